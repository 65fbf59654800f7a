// Which memory has the frames that a running virtual thread has not taken back from the heap
// (coreinspect/unwind/stack_chunks.h): it must be copied in the stop, with the stack.
//
// Ownership: borrows the inspection. Threads: one, while the target is stopped.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

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

  // JDK 25 and later: a JavaThread tells the entry of its continuation.
  bool threads_tell() const { return entry_field_.has_value(); }
  // Of the continuation that this thread runs.
  std::optional<ContinuationAtStop> of_thread(Address java_thread) const;
  // Of the one to whose entry a frame of this copy of a stack returns through the barrier.
  std::optional<ContinuationAtStop> of_stack(Address start, std::span<const std::byte> bytes) const;

 private:
  std::optional<ContinuationAtStop> of_entry(Address entry) const;

  const Inspection& inspection_;
  std::optional<std::uint64_t> entry_field_;  // JavaThread::_cont_entry
};

}  // namespace jtrace::coreinspect
