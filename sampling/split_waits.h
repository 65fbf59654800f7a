// SplitWaits: which waits are parts of one. HotSpot wakes one of the threads that wait to enter a monitor at intervals
// (ObjectMonitor::EnterI parks it for 1, 8, 64, ... at most 1000 ms), to look whether the monitor is free: the kernel
// sees several waits of what the program knows as one. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>

#include "sampling/wait_kind.h"
#include "sampling/wait_parties.h"
#include "sampling/wait_tracker.h"

namespace jtrace::sampling {

class SplitWaits {
 public:
  // To be called for all waits of a thread, in their order, with the owner that is told. What is earlier of the same
  // wait.
  EarlierPart earlier_part(const Wait& wait, WaitKind kind, const std::string& owner);
  // A timer ended this part: that is known, or, where it is not known who wakes threads, its length is such an
  // interval.
  static bool may_go_on(const Wait& wait, WaitKind kind);
  void ended(std::uint32_t tid) { parts_.erase(tid); }

 private:
  struct Part {
    std::uint64_t end = 0, sp = 0;
    EarlierPart all;  // up to its end
  };
  std::map<std::uint32_t, Part> parts_;  // that a timer ended, by thread
};

}  // namespace jtrace::sampling
