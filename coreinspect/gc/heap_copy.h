// HeapCopy: ranges of a target's memory, copied into memory of this process. The memory is allocated and touched before
// the target is stopped, so that the copy takes as little time as possible.
//
// Reads outside the copied ranges go to the target's memory. Ownership: owns the copy, borrows the target's memory.
// Threads: const functions from any thread once it is filled.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "coreinspect/gc/heap_layout.h"
#include "target/resident_pages.h"

namespace jtrace::coreinspect {

class HeapCopy final : public target::MemoryReader {
 public:
  // Allocates and touches room for `size` bytes. If there is address space, the room can grow to `most`; those pages
  // are allocated when they are filled. Errors: kSystem if there is no such room.
  static Result<std::unique_ptr<HeapCopy>> make(const target::MemoryReader& below, std::uint64_t size,
                                                std::uint64_t most = 0);
  ~HeapCopy() override;
  HeapCopy(const HeapCopy&) = delete;
  HeapCopy& operator=(const HeapCopy&) = delete;

  // Later copies leave out the pages that `pages` reports as absent: the room has zeros there.
  void leave_out_untouched(const target::ResidentPages& pages) { pages_ = &pages; }
  // Appends the ranges to the copy, with `threads` threads. Calls `go_on` with the progress before each piece; false
  // stops the copy. Errors: kTimeout if it was stopped, kPartial if the room is too small. What cannot be read is left
  // out and counted.
  using GoOn = std::function<bool(std::uint64_t done, std::uint64_t all)>;
  Result<> copy(std::span<const AddressRange> ranges, unsigned threads, const GoOn& go_on);
  // Touches room for `size` bytes, as far as it is available.
  void make_ready(std::uint64_t size);
  // Empties the copy; the room is zeros again.
  void clear();
  std::uint64_t ready() const { return touched_; }  // bytes that can be filled without new pages
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
  bool copy_piece(target::Address start, std::uint64_t size, std::byte* to) const;

  const target::MemoryReader& below_;
  const target::ResidentPages* pages_ = nullptr;
  std::byte* room_;
  std::uint64_t size_, touched_ = 0, used_ = 0, unreadable_ = 0;
  std::vector<Range> ranges_;  // sorted by address
};

}  // namespace jtrace::coreinspect
