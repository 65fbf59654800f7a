// Sampler: samples of live JVMs with complete stacks (kernel, native, VM and Java frames): of the CPU time of their
// threads, of their waits, or of both.
//
// The kernel copies registers and stacks (PerfEvents). They are unwound here at most a round (0.1 s) later
// (coreinspect/tools/copied_stack.h). No JVM is stopped and nothing is loaded into one. Shares the inspections. One
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/perf_events.h"
#include "sampling/stack_tally.h"
#include "sampling/wait_kind.h"
#include "sampling/wait_parties.h"

namespace jtrace::sampling {

struct SamplerOptions {
  EventOptions events;                        // ticks: CPU time; switches: waits
  std::chrono::nanoseconds duration{0};       // 0: until `stop` becomes readable
  std::chrono::nanoseconds least{1'000'000};  // shorter waits are only counted
  std::function<void()> started;              // called when the recording has begun; may be empty
  std::function<Result<>()> each_round;       // called after each round; may be empty
  // Asked every second for further JVMs; may be empty.
  std::function<std::vector<std::shared_ptr<coreinspect::Inspection>>()> newcomers;
  // Called for each of several JVMs, and each newcomer, that cannot be sampled; may be empty.
  std::function<void(pid_t, const Error&)> left_out;
};

// A thread with its stack.
struct TakenSample {
  const coreinspect::ThreadReport& thread;
  const target::Process& process;
  std::uint64_t time = 0;           // CLOCK_MONOTONIC, ns; of a wait its begin
  std::uint64_t weight = 0;         // ns of CPU time, or of the wait
  WaitKind wait = WaitKind::kNone;  // kNone: it ran
  WaitParties parties{};
  EarlierPart earlier{};  // of the same wait (split_waits.h): it was taken already
};
using TakeStack = std::function<Result<>(const TakenSample&)>;

struct SamplerSummary {
  StackTally stacks;
  std::uint64_t lost = 0, throttled = 0;
  // CPU time of the processes during the recording (of those that ended up to about then), and of the samples.
  std::chrono::nanoseconds used{}, sampled{};
  std::chrono::nanoseconds elapsed{}, decoding{};
  std::uint64_t brief = 0, broken = 0;  // of waits: those shorter than `least`; those of which a record was lost
  std::chrono::nanoseconds brief_time{};
  std::chrono::nanoseconds blind{};  // for which records of switches may have been lost: waits are cut there
  std::string no_wakers;             // why it is not known who woke threads; "" if it is
  std::uint64_t lost_wakers = 0;     // records of wakeups that found no room
  std::uint64_t unnamed = 0;         // of virtual threads that are not known
  std::size_t jvms = 0;              // that were sampled
  bool target_ended = false;         // all of them
  std::vector<std::string> missing;  // threads that were not sampled; one line each
};

class Sampler {
 public:
  // With waits it reads the stacks of threads that sleep, for half a second beside the first.
  // Errors: those of PerfEvents::open; the code cache cannot be read; of several JVMs only if none can be sampled.
  static Result<std::unique_ptr<Sampler>> open(const std::vector<std::shared_ptr<coreinspect::Inspection>>& inspections,
                                               const SamplerOptions& options);
  ~Sampler();

  const PerfEvents& events() const;
  // Of waits: why it is not known who woke threads, as far as that shows; "" if it is.
  const std::string& no_wakers() const;
  // `stop`: a descriptor that ends it when it becomes readable. Errors: those of `take`. Call it once.
  Result<SamplerSummary> run(int stop, const TakeStack& take);

 private:
  class Impl;
  explicit Sampler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jtrace::sampling
