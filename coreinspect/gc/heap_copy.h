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
#include "target/resident_pages.h"

namespace jtrace::coreinspect {

class HeapCopy final : public target::MemoryReader {
 public:
  // Room for `size` bytes, already touched, and where there is address space for up to `most`, whose pages come when
  // they are filled. Errors: kSystem where there is no such room.
  static Result<std::unique_ptr<HeapCopy>> make(const target::MemoryReader& below, std::uint64_t size,
                                                std::uint64_t most = 0);
  ~HeapCopy() override;
  HeapCopy(const HeapCopy&) = delete;
  HeapCopy& operator=(const HeapCopy&) = delete;

  // Of what is copied from now on the pages that these say are not there are left out: the room has zeros there.
  void leave_out_untouched(const target::ResidentPages& pages) { pages_ = &pages; }
  // Copies the ranges, by `threads` threads, after what it holds already. Asks `go_on` before each piece with how far
  // it is; false stops. kTimeout where it was stopped, kPartial where the room is too small. What cannot be read is
  // left out and counted.
  using GoOn = std::function<bool(std::uint64_t done, std::uint64_t all)>;
  Result<> copy(std::span<const AddressRange> ranges, unsigned threads, const GoOn& go_on);
  // Touches room for `size` bytes, as far as there is any.
  void make_ready(std::uint64_t size);
  // Forgets what it holds; the room is zeros again.
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
  std::vector<Range> ranges_;  // by address
};

}  // namespace jtrace::coreinspect
