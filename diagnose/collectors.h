// The collectors, one for each source of facts. Each belongs to one thread.
#pragma once

#include <optional>

#include "coreinspect/tools/thread_snapshot.h"
#include "diagnose/collect.h"
#include "diagnose/facts.h"
#include "diagnose/lanes.h"
#include "perfdata/counter_source.h"

namespace jtrace::diagnose {

// Facts of the VM's own structures: threads with their stacks and locks, safepoints.
class JvmCollector {
 public:
  JvmCollector(OpenTarget open, const CollectOptions& options) : open_(std::move(open)), options_(options) {}

  // Call it first. Errors: those of opening the target.
  Result<Publish> open();
  Result<Publish> look_at_threads();
  // Takes stacks of the threads that used a whole processor between the last two samples.
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
  std::chrono::nanoseconds stopped_{};  // since the last sample, for the stacks of busy threads
};

// The soft limit of this name, from the text of /proc/PID/limits (proc_pid_limits(5)); nothing if it is unlimited or
// missing.
std::optional<std::uint64_t> soft_limit(std::string_view limits, std::string_view name);

// Facts of the kernel about a live process.
class ProcessCollector {
 public:
  explicit ProcessCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<target::Process> process_;
};

// The JVM's counters in its hsperfdata file.
class CounterCollector {
 public:
  explicit CounterCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<perfdata::CounterSource> source_;
};

}  // namespace jtrace::diagnose
