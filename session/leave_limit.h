// LeaveLimit: how long to wait for the agent to leave a JVM. It is longer for a JVM that
// gets little processor time: its agent will still leave, and another attach is refused
// until then. A JVM that hangs uses none. Times are monotonic, in ns. Pure. One thread.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace jtrace::session {

class LeaveLimit {
 public:
  // `cpu`: processor time of the JVM's process so far, ns.
  LeaveLimit(std::uint64_t now, std::uint64_t cpu) : begin_(now), last_use_(now), first_cpu_(cpu), last_cpu_(cpu) {}

  // Call it at intervals.
  bool is_over(std::uint64_t now, std::uint64_t cpu) {
    if (cpu != last_cpu_) last_use_ = now;
    last_cpu_ = cpu;
    if (now - begin_ < kLeast) return false;
    const bool hangs = now - last_use_ >= kIdle;
    return hangs || cpu - first_cpu_ >= kLeast || now - begin_ >= kMost;
  }

 private:
  static constexpr std::uint64_t kLeast = 15 * kNanosPerSecond;
  static constexpr std::uint64_t kIdle = 5 * kNanosPerSecond;
  static constexpr std::uint64_t kMost = 120 * kNanosPerSecond;

  std::uint64_t begin_, last_use_, first_cpu_, last_cpu_;
};

}  // namespace jtrace::session
