// BufferMemory: bytes at a base address. For tests, fuzzing, saved files.
// Ownership: borrows the bytes, which must outlive it.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "target/memory_reader.h"

namespace jtrace::target {

class BufferMemory final : public MemoryReader {
 public:
  BufferMemory(Address base, std::span<const std::byte> bytes) : base_(base), bytes_(bytes) {}

  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override {
    if (address < base_ || address - base_ >= bytes_.size()) {
      Error error{.category = ErrorCategory::kMalformed, .text = "no memory"};
      error.address = address;
      return fail(std::move(error));
    }
    const std::size_t offset = address - base_;
    const std::size_t count = std::min(out.size(), bytes_.size() - offset);
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }

  std::span<const std::byte> view(Address address) const override {
    return address >= base_ && address - base_ < bytes_.size() ? bytes_.subspan(address - base_)
                                                               : std::span<const std::byte>();
  }

 private:
  Address base_;
  std::span<const std::byte> bytes_;
};

}  // namespace jtrace::target
