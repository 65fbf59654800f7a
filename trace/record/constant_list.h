// A list of words as one text that the compiler makes: "methods, calls and lines". Without memory of its own, so that
// the agent can have it. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace jtrace::trace::record {

class ConstantList {
 public:
  // `before_last`: " and ", " or ".
  constexpr ConstantList(std::span<const std::string_view> words, std::string_view before_last) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i != 0) append(i + 1 == words.size() ? before_last : std::string_view(", "));
      append(words[i]);
    }
  }
  constexpr std::string_view view() const { return {text_.data(), size_}; }

 private:
  constexpr void append(std::string_view part) {
    for (const char c : part) text_[size_++] = c;  // does not compile if there is no room
  }

  std::array<char, 256> text_{};
  std::size_t size_ = 0;
};

}  // namespace jtrace::trace::record
