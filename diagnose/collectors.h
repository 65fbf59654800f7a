// The collectors, one for each source of facts. Each belongs to one thread.
#pragma once

#include <optional>

#include "coreinspect/tools/thread_snapshot.h"
#include "diagnose/collect.h"
#include "diagnose/facts.h"
#include "diagnose/lanes.h"
#include "perfdata/counter_source.h"

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
  Result<Publish> look_at_direct_memory();

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

// Of /proc/PID/limits (proc_pid_limits(5)), the soft limit of this name; nothing where it is unlimited or not there.
std::optional<std::uint64_t> soft_limit(std::string_view limits, std::string_view name);

// What the kernel tells of a live process.
class ProcessCollector {
 public:
  explicit ProcessCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<target::Process> process_;
};

// What the JVM counts in its hsperfdata file.
class CounterCollector {
 public:
  explicit CounterCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<perfdata::CounterSource> source_;
};

}  // namespace jtrace::diagnose
