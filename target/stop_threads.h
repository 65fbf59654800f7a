// StoppedThreads: all threads of a process (or some) are stopped while this object lives, and continue when it is
// destroyed.
//
// PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent, nothing is written into the target, and if this process dies,
// the kernel continues the threads. A signal that was pending is delivered when they continue. All calls must be made
// by the thread that made the object (ptrace(2)). The caller checks time_left() between its reads: the object cannot
// release the threads by itself. Until release() its thread comes first at a processor (FirstInLine). A thread that has
// another tracer is not stopped, but reported in held(). Errors: kPermission, kTimeout (a thread does not stop in time:
// all are released), kNotFound (the process is gone).
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "target/first_in_line.h"
#include "target/held_thread.h"
#include "target/process.h"
#include "target/registers.h"

namespace jtrace::target {

class StoppedThreads {
 public:
  static Result<StoppedThreads> stop(const Process& process, std::chrono::milliseconds max_stop);
  // Stops only the given threads (ids of this process's pid namespace); those that have ended are left out.
  static Result<StoppedThreads> stop(const Process& process, std::chrono::milliseconds max_stop,
                                     std::span<const pid_t> tids);
  StoppedThreads(StoppedThreads&& other) noexcept { *this = std::move(other); }
  StoppedThreads& operator=(StoppedThreads&& other) noexcept;
  ~StoppedThreads() { release(); }

  // tid: in this process's pid namespace.
  const std::vector<ThreadRegisters>& threads() const { return threads_; }
  // The threads that another tracer holds: this object does not stop them.
  const std::vector<HeldThread>& held() const { return held_; }
  std::chrono::nanoseconds time_left() const;  // of max_stop; negative if it is exceeded
  // Continues all threads; returns how long the first of them was stopped. A second call does nothing and returns the
  // same.
  std::chrono::nanoseconds release();

 private:
  struct Traced {
    pid_t tid = 0;
    int signal = 0;  // to be delivered when it continues
    bool stopped = false;
  };
  StoppedThreads() = default;
  Result<> seize_all(const Process& process);
  int try_seize(const Process& process, pid_t tid) const;  // errno; 0: it is traced by this object
  Result<> seize(const Process& process, std::span<const pid_t> tids);
  Result<> wait_all();
  Result<> read_registers();

  std::optional<FirstInLine> first_in_line_;  // until release()
  std::vector<Traced> traced_;
  std::vector<ThreadRegisters> threads_;
  std::vector<HeldThread> held_;
  std::uint64_t started_ns_ = 0;
  std::uint64_t released_ns_ = 0;
  std::chrono::nanoseconds limit_{};
};

}  // namespace jtrace::target
