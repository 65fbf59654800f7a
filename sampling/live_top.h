// LiveTop: the threads of a live JVM by processor time with their top frames, without stopping any: times and states as
// the kernel and the VM have them, frames by samples of those that run (PerfEvents) and by a look at the stack in
// memory of those that sleep. Shares the inspection. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/tools/top_threads.h"
#include "sampling/perf_events.h"
#include "sampling/sampled_jvm.h"
#include "sampling/top_frames.h"

namespace jtrace::sampling {

class LiveTop {
 public:
  // Errors: those of PerfEvents::open; the code cache or the list of threads cannot be read.
  static Result<std::unique_ptr<LiveTop>> open(std::shared_ptr<coreinspect::Inspection> inspection);

  // Takes samples until that time (CLOCK_MONOTONIC, ns). False if `stop` became readable before.
  bool sample_until(std::uint64_t end, int stop);
  // What threads have used since the last look, and the frames of the busiest `rows`.
  coreinspect::TopTable look(std::size_t rows);
  const PerfEvents& events() const { return *events_; }

 private:
  // Of a thread that slept when it was looked at; it is still there if it has used no time since.
  struct Sleeper {
    std::optional<std::uint64_t> cpu_ns = {};
    std::string frame;
  };

  LiveTop(std::shared_ptr<coreinspect::Inspection> inspection, std::unique_ptr<SampledJvm> jvm,
          std::unique_ptr<PerfEvents> events)
      : owner_(std::move(inspection)), inspection_(*owner_), jvm_(std::move(jvm)), events_(std::move(events)) {}
  void take_samples();
  coreinspect::ThreadSnapshot read_threads();
  void add_losses(std::vector<std::string>& missing);
  std::string frame_of_sleeper(pid_t tid, std::optional<std::uint64_t> cpu_ns);

  const std::shared_ptr<coreinspect::Inspection> owner_;
  coreinspect::Inspection& inspection_;
  std::unique_ptr<SampledJvm> jvm_;
  std::unique_ptr<PerfEvents> events_;
  coreinspect::TopCounter counter_;
  TopFrames frames_;
  TopCarried carried_;
  std::map<pid_t, Sleeper> sleepers_, seen_;  // by tid: of the last look, of this one
  std::uint64_t lost_ = 0, throttled_ = 0;    // at the last look
};

}  // namespace jtrace::sampling
