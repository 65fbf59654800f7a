// JfrBytes: values as a recording of JFR has them (jdk.jfr.internal.consumer.RecordingInput, StringParser). Header
// only; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jtrace::sampling {

class JfrBytes {
 public:
  // Seven bits a byte, the lowest first; the ninth byte has eight.
  JfrBytes& number(std::uint64_t value) {
    int bytes = 1;
    for (; value >= 0x80 && bytes < 9; value >>= 7, ++bytes) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
    return *this;
  }
  JfrBytes& flag(bool value) {
    text_ += value ? '\1' : '\0';
    return *this;
  }
  // As UTF-8.
  JfrBytes& string(std::string_view value) {
    text_ += '\3';
    number(value.size());
    text_ += value;
    return *this;
  }
  template <class T>
  JfrBytes& big_endian(T value) {
    for (std::size_t i = sizeof value; i-- > 0;) text_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  JfrBytes& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }

  // With its size, which counts itself, before it.
  std::string as_event() const {
    std::size_t width = 1;
    while ((text_.size() + width) >> (7 * width) != 0) ++width;
    JfrBytes whole;
    whole.number(text_.size() + width);
    return whole.text_ + text_;
  }

 private:
  std::string text_;
};

}  // namespace jtrace::sampling
