// Which virtual thread a carrier ran at the moment of a sample.
//
// The entry of a continuation (ContinuationEntry of continuationEntry.hpp) lies on the carrier's stack, in the frame of
// Continuation.enterSpecial, so the copy has it as it was then. It leads to the continuation, and that to the virtual
// thread, both in the heap of now: the answer is given only if the virtual thread refers to the same continuation, so
// that an object that was moved meanwhile gives no answer, not a wrong one. Pure apart from what it reads. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "coreinspect/oops/object_model.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::sampling {

struct MountedThread {
  std::string name;  // "" if it has none
  std::int64_t id = 0;
};

// The number of frames that are a virtual thread's: up to Continuation.enter, or up to the place of those that are in
// the heap (coreinspect::are_in_chunks). Nothing if the carrier runs for itself.
std::optional<std::size_t> virtual_frames(const coreinspect::Walk& walk);

// `start`, `stack`: the copy.
std::optional<MountedThread> mounted_thread(const coreinspect::ObjectModel& objects, const coreinspect::Walk& walk,
                                            target::Address start, std::span<const std::byte> stack);

}  // namespace jtrace::sampling
