// HeapCopy: ranges of a target's memory copied into memory of ours, which is made and touched before the target is
// stopped, so that the copy costs as little as it can.
//
// Reads outside the copied ranges go to the memory below. Ownership: owns the copy, borrows the memory below. Threads:
// const functions from any thread once it is filled.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "coreinspect/gc/heap_layout.h"

namespace jtrace::coreinspect {

class HeapCopy final : public target::MemoryReader {
 public:
  // Room for `size` bytes, already touched. Errors: kSystem where there is no such room.
  static Result<std::unique_ptr<HeapCopy>> make(const target::MemoryReader& below, std::uint64_t size);
  ~HeapCopy() override;
  HeapCopy(const HeapCopy&) = delete;
  HeapCopy& operator=(const HeapCopy&) = delete;

  // Copies the ranges, by `threads` threads, after what it holds already. Asks `go_on` before each piece; false stops.
  // kTimeout where it was stopped, kPartial where the room is too small. What cannot be read is left out and counted.
  Result<> copy(std::span<const AddressRange> ranges, unsigned threads, const std::function<bool()>& go_on);
  std::uint64_t copied() const { return used_; }
  std::uint64_t unreadable() const { return unreadable_; }

  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;
  std::span<const std::byte> view(target::Address address) const override;

 private:
  struct Range {
    target::Address start = 0, end = 0;
    std::byte* bytes = nullptr;
  };
  HeapCopy(const target::MemoryReader& below, std::byte* room, std::uint64_t size)
      : below_(below), room_(room), size_(size) {}
  const Range* find(target::Address address) const;

  const target::MemoryReader& below_;
  std::byte* room_;
  std::uint64_t size_, used_ = 0, unreadable_ = 0;
  std::vector<Range> ranges_;  // by address
};

}  // namespace jtrace::coreinspect
