// PerfEvents: the kernel takes samples of a process: at each tick of a CPU clock the registers, a copy of the stack and
// the kernel's call chain go into a ring. The process is not stopped and nothing is changed in it.
//
// Two arrangements, of which open() takes the first that is allowed:
//   processors  one event on each processor. It samples every process; samples of other processes are dropped here. No
//               cost at context switches. Needs CAP_PERFMON, or perf_event_paranoid 0 or less.
//   threads     an event for each thread on each processor, inherited by the threads that it starts. For the user's own
//               processes; without time in the kernel if perf_event_paranoid is 2 or more.
// The events end with their descriptors, also if this process is killed. Ownership: owns them all. One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sampling/sample_record.h"
#include "target/perf_ring.h"
#include "target/process.h"

namespace jtrace::sampling {

inline constexpr std::uint32_t kMostStackBytes = 65'528;  // a record has at most 65,535 bytes
inline constexpr std::uint32_t kStackBytes = 32'768;

struct EventOptions {
  double hz = 99;
  std::uint32_t stack_bytes = kStackBytes;  // a multiple of 8, at most kMostStackBytes
};

class PerfEvents {
 public:
  enum class Arrangement { kProcessors, kThreads };

  // Nothing is sampled before start(). Errors: kPermission with the missing right; kUsage for a rate that is too high;
  // kSystem.
  static Result<std::unique_ptr<PerfEvents>> open(const target::Process& process, const EventOptions& options);

  Result<> start();
  // Samples taken so far stay in the rings.
  void stop();
  // Calls `take` for each sample of the process since the last call.
  void drain(const std::function<void(const SampleRecord&)>& take);

  bool with_kernel() const { return with_kernel_; }
  // What is missing from the samples; one line each.
  const std::vector<std::string>& notes() const { return notes_; }
  std::string description() const;
  std::size_t ring_bytes() const { return rings_.empty() ? 0 : rings_[0].size(); }
  std::uint64_t lost() const;       // records that found no room
  std::uint64_t throttled() const;  // times that the kernel suspended an event

 private:
  PerfEvents(const target::Process& process, const EventOptions& options) : process_(process), options_(options) {}
  Result<> try_open(Arrangement arrangement, bool with_kernel);
  Result<> open_processors();
  Result<> open_threads();
  // Its descriptor; -1 if the processor is offline.
  Result<UniqueFd> open_event(pid_t thread, int processor);
  Result<> add(UniqueFd fd, pid_t thread, int processor);
  Result<> map_ring(int fd);
  bool is_duplicate(const SampleRecord& sample) const;
  void take_record(std::uint32_t type, std::span<const std::byte> body,
                   const std::function<void(const SampleRecord&)>& take);

  const target::Process& process_;
  EventOptions options_;
  Arrangement arrangement_ = Arrangement::kProcessors;
  bool with_kernel_ = true, inherits_threads_alone_ = true, tells_lost_ = true;
  std::size_t ring_size_ = 0;
  std::vector<target::PerfRing> rings_;
  std::map<int, int> first_of_;  // processor -> descriptor whose ring it has
  std::vector<UniqueFd> events_;
  std::map<std::uint64_t, pid_t> thread_of_;  // event -> the thread it was opened for
  std::set<pid_t> opened_;                    // threads that have events of their own
  std::vector<std::string> notes_;
  std::uint64_t lost_ = 0, throttled_ = 0;
  SampleRecord sample_;
};

}  // namespace jtrace::sampling
