// Waits for a descriptor or for a time, until a deadline, as long as a process lives and the wait is not cancelled.
#pragma once

#include <chrono>

#include "target/process.h"

namespace jtrace::attach {

using Clock = std::chrono::steady_clock;

enum class Woken { kReady, kTimeout, kExited, kCancelled };

class Waiter {
 public:
  // The wait ends if `cancel_fd` becomes readable; -1 for none. Borrows `process`.
  Waiter(const target::Process& process, Clock::time_point deadline, int cancel_fd)
      : process_(process), deadline_(deadline), cancel_fd_(cancel_fd) {}

  // Waits until `fd` has one of `events` (poll(2)). The end of the process does not end the wait: what it sent can
  // still be read.
  Woken wait_fd(int fd, short events) const;
  // The same, or until the process ends (kReady if both happened).
  Woken wait_fd_or_exit(int fd, short events) const;
  // Waits for `time`, or until the deadline, the end of the process or the cancellation: kReady when `time` has passed.
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
