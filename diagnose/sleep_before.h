// SleepBefore: for how long threads had not run before they were first stopped for their stacks, which makes each run.
// One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>

#include "diagnose/facts.h"
#include "target/process.h"

namespace jtrace::diagnose {

class SleepBefore {
 public:
  struct Thread {
    std::uint64_t waits = 0;      // counted before it was found asleep
    std::uint64_t asleep_ns = 0;  // at least
  };
  SleepBefore() = default;
  explicit SleepBefore(std::map<pid_t, Thread> threads) : threads_(std::move(threads)) {}
  // Before the first stop.
  static SleepBefore read(const target::Process& process);

  // Sets asleep_ns of the threads that have run since for nothing but the stop of this look, the first one: it found
  // them in their call, and their count of waits has grown by the least of all. A JVM always has threads that do
  // nothing.
  void note_in(ThreadsLook& look) const;

 private:
  std::map<pid_t, Thread> threads_;  // by tid as this process sees it
};

}  // namespace jtrace::diagnose
