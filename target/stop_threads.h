// StoppedThreads: all threads of a process (or some) stand still while this object lives, and go on when it goes.
//
// PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent, nothing is written into the target, and the kernel lets the
// threads go on if this process dies. A signal that was on its way is delivered when they go on. Everything must be
// done by the thread that made the object (ptrace(2)). The caller looks at time_left() between its reads: the object
// cannot release by itself. A thread that another tracer has is not stopped, but told of. Errors: kPermission,
// kTimeout (a thread does not stop in time: all are released), kNotFound (the process is gone).
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "base/result.h"
#include "target/held_thread.h"
#include "target/process.h"
#include "target/registers.h"

namespace jtrace::target {

class StoppedThreads {
 public:
  static Result<StoppedThreads> stop(const Process& process, std::chrono::milliseconds max_stop);
  // Only these (as this process sees them); those that have ended are left out.
  static Result<StoppedThreads> stop(const Process& process, std::chrono::milliseconds max_stop,
                                     std::span<const pid_t> tids);
  StoppedThreads(StoppedThreads&& other) noexcept { *this = std::move(other); }
  StoppedThreads& operator=(StoppedThreads&& other) noexcept;
  ~StoppedThreads() { release(); }

  // tid as this process sees it.
  const std::vector<ThreadRegisters>& threads() const { return threads_; }
  // Those that another tracer has: they are not stopped by this object.
  const std::vector<HeldThread>& held() const { return held_; }
  std::chrono::nanoseconds time_left() const;  // of max_stop; negative when over
  // Lets all go on; returns for how long the first of them stood. A second call does nothing and gives the same.
  std::chrono::nanoseconds release();

 private:
  struct Traced {
    pid_t tid = 0;
    int signal = 0;  // to be delivered when it goes on
    bool stopped = false;
  };
  StoppedThreads() = default;
  Result<> seize_all(const Process& process);
  int try_seize(const Process& process, pid_t tid) const;  // errno; 0: it is traced by us
  Result<> seize(const Process& process, std::span<const pid_t> tids);
  Result<> wait_all();
  Result<> read_registers();

  std::vector<Traced> traced_;
  std::vector<ThreadRegisters> threads_;
  std::vector<HeldThread> held_;
  std::uint64_t started_ns_ = 0;
  std::uint64_t released_ns_ = 0;
  std::chrono::nanoseconds limit_{};
};

}  // namespace jtrace::target
