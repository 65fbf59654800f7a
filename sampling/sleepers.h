// Sleepers: the stacks of threads that slept when they were looked at, for waits of whose beginning there is no sample:
// those that began before the recording, or while records were lost.
//
// One thread.
#pragma once

#include <cstdint>
#include <map>

#include "sampling/sampled_jvm.h"
#include "sampling/wait_tracker.h"

namespace jtrace::sampling {

// A thread slept all the time from before `from` until after `until` (CLOCK_MONOTONIC, ns). After one look `until` is
// before `from`: the look began at `until` and ended at `from`.
struct KnownSleep {
  std::uint64_t from = 0, until = 0;
  // Whether the wait is this sleep.
  bool is_of(const Wait& wait) const { return !wait.preempted && wait.begin <= until && wait.end >= from; }
};

class Sleepers {
 public:
  // Reads its stack. What it does now.
  Sleep look(SampledJvm& jvm, pid_t tid);
  // Whether it has not run since the last look: two small reads.
  bool still_sleeps(const SampledJvm& jvm, pid_t tid);
  // It has ended: its number may be another thread's soon.
  void forget(std::uint32_t tid) { sleepers_.erase(tid); }
  // The stack of that wait; null if it is not known.
  const coreinspect::ThreadReport* stack_of(const Wait& wait) const;

 private:
  struct Sleeper {
    KnownSleep sleep;
    ThreadMoment moment;
    coreinspect::ThreadReport report;
  };
  std::map<std::uint32_t, Sleeper> sleepers_;  // by tid
};

}  // namespace jtrace::sampling
