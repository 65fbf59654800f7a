// SampledThreads: the thread of a sample: its JavaThread, or its name in the kernel. Looked up when a thread is first
// seen and again every second, because threads get their names after they have started. Borrows the inspection. One
// thread.
#pragma once

#include <map>

#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::sampling {

class SampledThreads {
 public:
  explicit SampledThreads(const coreinspect::Inspection& inspection) : inspection_(inspection) {}

  // Without registers and frames; valid until the next call.
  const coreinspect::ThreadReport& of(pid_t tid, target::Address sp);

 private:
  struct Known {
    coreinspect::ThreadReport report;
    std::uint64_t looked_up = 0;  // CLOCK_MONOTONIC, ns
  };
  void read_java_threads(std::uint64_t now);
  void look_up(pid_t tid, target::Address sp, Known& known);

  const coreinspect::Inspection& inspection_;
  std::map<target::Address, coreinspect::JavaThread> java_;  // by stack base
  std::uint64_t read_ = 0;
  std::map<pid_t, Known> known_;
};

}  // namespace jtrace::sampling
