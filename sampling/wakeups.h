// Wakeups: who ended the waits of threads: the kernel's tracepoint sched:sched_waking, recorded on each processor for
// every process of the machine, without stacks.
//
// Needs what the kernel asks for tracepoints (CAP_PERFMON, or perf_event_paranoid -1), and a tracefs that is mounted:
// nothing is mounted here. The events end with their descriptors. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "target/perf_ring.h"

namespace jtrace::sampling {

// The thread that ran on the processor where another was woken. With `interrupt` it did not do it itself.
struct Wakeup {
  std::uint32_t tid = 0;  // that was woken
  std::uint32_t waker_pid = 0, waker_tid = 0;
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
  bool interrupt = false;
};

// Where a record of the tracepoint has what is read of it.
struct WakingFormat {
  std::uint64_t id = 0;
  std::size_t flags = 0, woken = 0;  // offsets of common_flags and pid
};
// The text of events/sched/sched_waking/format; nothing if it lacks a field.
std::optional<WakingFormat> parse_waking_format(std::string_view text);
// The body of a PERF_RECORD_SAMPLE; nothing if it is too short.
std::optional<Wakeup> read_wakeup(std::span<const std::byte> body, const WakingFormat& format);

class Wakeups {
 public:
  // Nothing is recorded before start(). Errors: kNotFound without a tracefs; kPermission; kSystem.
  static Result<std::unique_ptr<Wakeups>> open();

  Result<> start();
  void stop();
  void drain(const std::function<void(const Wakeup&)>& take);
  std::uint64_t lost() const { return lost_; }  // records that found no room

 private:
  explicit Wakeups(const WakingFormat& format) : format_(format) {}
  Result<> open_processors();
  Result<> add_event(UniqueFd fd);

  const WakingFormat format_;
  std::vector<UniqueFd> events_;
  std::vector<target::PerfRing> rings_;
  std::uint64_t lost_ = 0;
};

}  // namespace jtrace::sampling
