// RingBuffer: the reading side of a BPF ring buffer (BPF_MAP_TYPE_RINGBUF, kernel/bpf/ringbuf.c). One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace jtrace::dtrace {

class RingBuffer {
 public:
  RingBuffer() = default;
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;
  ~RingBuffer();

  // `size`: of the map, a power of two and of pages.
  Result<> map(int map_fd, std::size_t size);

  // Calls `function` (span of bytes) with each record that is complete, in order of reservation.
  template <class Function>
  void consume(Function&& function) {
    std::uint64_t position = *consumer_;
    for (const std::uint64_t end = produced(); position < end;) {
      const std::uint32_t header = length_at(position);
      if ((header & kBusy) != 0) break;
      const std::uint32_t length = header & ~(kBusy | kDiscarded);
      if (length > size_) break;  // cannot be
      if ((header & kDiscarded) == 0) function(std::span(data_ + (position & (size_ - 1)) + kHeader, length));
      position += (std::uint64_t{length} + kHeader + 7) & ~std::uint64_t{7};
      release(position);
    }
  }

 private:
  static constexpr std::uint32_t kBusy = 1u << 31;
  static constexpr std::uint32_t kDiscarded = 1u << 30;
  static constexpr std::size_t kHeader = 8;

  std::uint64_t produced() const;
  std::uint32_t length_at(std::uint64_t position) const;
  void release(std::uint64_t position);

  std::uint64_t* consumer_ = nullptr;
  const std::byte* producer_page_ = nullptr;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t page_ = 0;
};

}  // namespace jtrace::dtrace
