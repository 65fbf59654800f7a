// HeapSource: the bytes of the heap in long pieces, for a walk. They are not copied if they are in this process's
// memory (a core, a copy of the heap); otherwise they are read a megabyte at a time.
//
// Ownership: borrows the memory. Threads: one at a time; each walking thread has its own.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "target/memory_reader.h"

namespace jtrace::coreinspect {

class HeapSource {
 public:
  explicit HeapSource(const target::MemoryReader& memory) : memory_(memory) {}

  // Bytes of [at, end) from `at` on: all of them, or at least `want` (at most kPiece); fewer only if the memory ends.
  // Empty if `at` cannot be read. Valid until the next call.
  std::span<const std::byte> window(target::Address at, target::Address end, std::size_t want) {
    const std::uint64_t length = end - at;
    want = static_cast<std::size_t>(std::min<std::uint64_t>(want, length));
    const auto direct = memory_.view(at);
    if (direct.size() >= want && !direct.empty())
      return direct.first(std::min<std::uint64_t>(direct.size(), std::min<std::uint64_t>(length, kWindow)));
    if (at >= start_ && at - start_ < size_ && size_ - (at - start_) >= want)
      return {buffer_.get() + (at - start_),
              static_cast<std::size_t>(std::min<std::uint64_t>(size_ - (at - start_), length))};
    return read(at, std::min<std::uint64_t>(length, kPiece));
  }
  // Discards what was read.
  void forget() { size_ = 0; }
  // Bytes that were copied so far.
  std::uint64_t copied() const { return copied_; }

  static constexpr std::size_t kPiece = 1u << 20;
  static constexpr std::size_t kWindow = 16u << 20;

 private:
  std::span<const std::byte> read(target::Address at, std::size_t size) {
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kPiece);
    std::size_t done = 0;
    while (done < size) {
      const auto count = memory_.read_some(at + done, {buffer_.get() + done, size - done});
      if (!count || *count == 0) break;
      done += *count;
    }
    copied_ += done;
    start_ = at;
    size_ = done;
    return {buffer_.get(), done};
  }

  const target::MemoryReader& memory_;
  std::unique_ptr<std::byte[]> buffer_;
  target::Address start_ = 0;  // of the buffer's contents
  std::size_t size_ = 0;
  std::uint64_t copied_ = 0;
};

}  // namespace jtrace::coreinspect
