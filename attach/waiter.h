// Waiting for a descriptor or for time to pass, up to a deadline, while a process lives and nobody cancels.
#pragma once

#include <chrono>

#include "target/process.h"

namespace jtrace::attach {

using Clock = std::chrono::steady_clock;

enum class Woken { kReady, kTimeout, kExited, kCancelled };

class Waiter {
 public:
  // `cancel_fd` readable means: stop waiting; -1 for none. Borrows `process`.
  Waiter(const target::Process& process, Clock::time_point deadline, int cancel_fd)
      : process_(process), deadline_(deadline), cancel_fd_(cancel_fd) {}

  // Until `fd` has one of `events` (poll(2)). An exit of the process does not end it: what it had sent can still be
  // read.
  Woken wait_fd(int fd, short events) const;
  // The same, or until the process ends (kReady where both have happened).
  Woken wait_fd_or_exit(int fd, short events) const;
  // For `time`, or until the deadline, the process's end or the cancellation: kReady when `time` has passed.
  Woken pause(std::chrono::microseconds time) const;

  Clock::time_point deadline() const { return deadline_; }
  std::chrono::microseconds remaining() const;
  const target::Process& process() const { return process_; }

 private:
  Woken poll_until(int fd, short events, bool watch_exit, Clock::time_point until) const;

  const target::Process& process_;
  Clock::time_point deadline_;
  int cancel_fd_;
};

}  // namespace jtrace::attach
