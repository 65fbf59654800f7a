// Which memory has the frames that a running virtual thread has not taken back from the heap
// (coreinspect/unwind/stack_chunks.h): it must be copied in the stop, with the stack.
//
// Ownership: borrows the inspection. Threads: one, while the target is stopped.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "coreinspect/code/code_cache.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

struct ContinuationAtStop {
  Address object = 0;
  std::vector<std::pair<Address, Address>> ranges;  // [first, second) of it and its chunks
};

class ChunksAtStop {
 public:
  // To be made before the stop: looks up what does not change.
  explicit ChunksAtStop(const Inspection& inspection);

  // JDK 25 and later: the offset in a JavaThread of the address of its continuation's entry, 0 if it runs none.
  std::optional<std::uint64_t> entry_field() const { return entry_field_; }
  // Of the continuation with this entry.
  std::optional<ContinuationAtStop> of_entry(Address entry) const;
  // Of the one to whose entry a frame of this copy of a stack returns through the barrier.
  std::optional<ContinuationAtStop> of_stack(Address start, std::span<const std::byte> bytes) const;

 private:
  const Inspection& inspection_;
  std::optional<std::uint64_t> entry_field_;  // JavaThread::_cont_entry
  std::optional<CodeHeap> stubs_;             // where the barrier is
};

}  // namespace jtrace::coreinspect
