// Sampled stacks of a live JVM without an agent, by the walker of `jtrace stack`.
//
// For each sample the target is stopped while the registers and stacks of the chosen threads are copied. The share of
// time that it is stopped is kept below a bound: after an expensive sample the next one comes later. Threads: one at a
// time.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

struct ProfileOptions {
  double hz = 20;
  bool cpu = true;                       // only running threads; otherwise all
  std::chrono::nanoseconds duration{0};  // 0: until `stop` becomes readable
  double max_share = 0.02;               // share of time that the target may be stopped
  std::chrono::milliseconds max_stop{200};
};

struct ProfileSummary {
  std::uint64_t samples = 0;     // moments
  std::uint64_t stacks = 0;      // threads in them
  std::uint64_t delayed = 0;     // samples that came late because of max_share
  std::uint64_t incomplete = 0;  // stacks that could not be read to the end
  std::chrono::nanoseconds elapsed{}, paused{}, longest{};
  bool target_ended = false;
  std::vector<std::string> missing;  // threads that another tracer held; one line for each tracer
  double share() const { return elapsed.count() > 0 ? double(paused.count()) / double(elapsed.count()) : 0; }
};

// Calls `take` with each sample and its wall time (ns since the epoch). Ends when the descriptor `stop` becomes
// readable.
using TakeSample = std::function<Result<>(const ThreadSnapshot&, std::uint64_t time)>;
Result<ProfileSummary> run_profile(Inspection& inspection, const ProfileOptions& options, int stop,
                                   const TakeSample& take);

// At the root of a stack that could not be read to its end, because its outermost frame is not the thread's.
inline constexpr const char* kCutStack = "[cut stack]";

// "java.lang.Thread.run", a native function, or "libc.so.6+0x85f16".
std::string frame_name(const Frame& frame);
// Of a Java frame: "Thread.java:840", "Native Method", "Unknown Source".
std::string frame_source(const Frame& frame);

// Its name, as at the root of its stacks.
std::string thread_label(const ThreadReport& report);

// The threads that run or wait for a processor at this moment, as the kernel has them (proc(5): state R).
// `traced`: gets those that are stopped by ptrace.
std::vector<pid_t> running_threads(const target::Process& process, std::set<pid_t>* traced = nullptr);

}  // namespace jtrace::coreinspect
