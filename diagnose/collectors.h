// The collectors, one for each source of facts. Each belongs to one thread.
#pragma once

#include <optional>

#include "coreinspect/tools/thread_snapshot.h"
#include "diagnose/collect.h"
#include "diagnose/facts.h"
#include "diagnose/lanes.h"

namespace jtrace::diagnose {

// What the VM's own structures tell: threads with their stacks and locks, safepoints.
class JvmCollector {
 public:
  JvmCollector(OpenTarget open, const CollectOptions& options) : open_(std::move(open)), options_(options) {}

  // First of all. Errors: those of opening the target.
  Result<Publish> open();
  Result<Publish> look_at_threads();
  // Stacks of the threads that used a whole processor between the last two looks.
  Result<Publish> look_at_busy_threads();
  Result<Publish> look_at_safepoint();

 private:
  struct Busy {
    ThreadKey key;
    pid_t tid;
  };
  std::vector<Busy> busy_threads() const;

  OpenTarget open_;
  CollectOptions options_;
  std::unique_ptr<coreinspect::Inspection> inspection_;
  std::optional<coreinspect::ThreadSampler> sampler_;
  std::optional<ThreadsLook> before_, last_;
  std::chrono::nanoseconds stopped_{};  // since the last look, for the stacks of busy threads
};

// What the kernel tells of a live process.
class ProcessCollector {
 public:
  explicit ProcessCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<target::Process> process_;
};

}  // namespace jtrace::diagnose
