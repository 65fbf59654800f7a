// ByteBuffer: a growing buffer of bytes, native byte order, for definitions and control frames. One thread.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace jtrace::agent {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        room_(std::exchange(other.room_, 0)) {}
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;
  ~ByteBuffer() { std::free(bytes_); }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(T value) { append(&value, sizeof value); }
  // Appends the u32 length and the bytes.
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  void put_bytes(const void* from, std::size_t size) { append(from, size); }
  void clear() { size_ = 0; }
  template <class T>
  void overwrite(std::size_t at, T value) {
    std::memcpy(bytes_ + at, &value, sizeof value);
  }
  const unsigned char* data() const { return bytes_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes_), size_}; }

 private:
  void append(const void* from, std::size_t size) {
    if (size == 0) return;
    if (room_ - size_ < size) {
      room_ = (size_ + size) * 2 + 256;
      bytes_ = static_cast<unsigned char*>(std::realloc(bytes_, room_));
      if (bytes_ == nullptr) std::abort();
    }
    std::memcpy(bytes_ + size_, from, size);
    size_ += size;
  }

  unsigned char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace jtrace::agent
