// Sampler: samples of a live JVM's CPU time with complete stacks: kernel, native, VM and Java frames.
//
// The kernel copies registers and stacks (PerfEvents). They are unwound here at most a round (0.1 s) later
// (coreinspect/tools/copied_stack.h). The JVM is not stopped and nothing is loaded into it. Borrows the inspection. One
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/perf_events.h"

namespace jtrace::sampling {

inline constexpr const char* kKernelModule = "[kernel]";  // of frames in the kernel, which are native ones

struct SamplerOptions {
  EventOptions events;
  std::chrono::nanoseconds duration{0};  // 0: until `stop` becomes readable
};

// A thread with its stack, `weight` ns of CPU time. `time`: CLOCK_MONOTONIC, ns.
using TakeStack = std::function<Result<>(const coreinspect::ThreadReport&, std::uint64_t time, std::uint64_t weight)>;

struct SamplerSummary {
  std::uint64_t samples = 0, lost = 0, throttled = 0;
  std::map<std::string, std::uint64_t> cut;  // stacks that are not whole, by cause
  std::chrono::nanoseconds elapsed{}, decoding{};
  bool target_ended = false;
};

class Sampler {
 public:
  // Errors: those of PerfEvents::open; the code cache cannot be read.
  static Result<std::unique_ptr<Sampler>> open(coreinspect::Inspection& inspection, const SamplerOptions& options);
  ~Sampler();

  const PerfEvents& events() const;
  // `stop`: a descriptor that ends it when it becomes readable. Errors: those of `take`. Call it once.
  Result<SamplerSummary> run(int stop, const TakeStack& take);

 private:
  class Impl;
  explicit Sampler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jtrace::sampling
