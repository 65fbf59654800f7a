#include "attach/waiter.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

namespace jtrace::attach {
namespace {

timespec to_timespec(Clock::duration duration) {
  const auto ns = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

Woken Waiter::poll_until(int fd, short events, bool watch_exit, Clock::time_point until) const {
  pollfd fds[3] = {{.fd = fd, .events = events, .revents = 0},
                   {.fd = cancel_fd_, .events = POLLIN, .revents = 0},
                   {.fd = watch_exit ? process_.pidfd() : -1, .events = POLLIN, .revents = 0}};
  for (;;) {
    const timespec timeout = to_timespec(until - Clock::now());
    const int count = ::ppoll(fds, 3, &timeout, nullptr);
    if (count < 0 && errno == EINTR) continue;
    if (fds[0].revents != 0) return Woken::kReady;
    if (fds[1].revents != 0) return Woken::kCancelled;
    if (fds[2].revents != 0) return Woken::kExited;
    return Woken::kTimeout;
  }
}

Woken Waiter::wait_fd(int fd, short events) const { return poll_until(fd, events, false, deadline_); }

Woken Waiter::wait_fd_or_exit(int fd, short events) const { return poll_until(fd, events, true, deadline_); }

Woken Waiter::pause(std::chrono::microseconds time) const {
  const auto until = std::min(Clock::now() + time, deadline_);
  const Woken woken = poll_until(-1, 0, true, until);
  if (woken != Woken::kTimeout) return woken;
  return Clock::now() >= deadline_ ? Woken::kTimeout : Woken::kReady;
}

std::chrono::microseconds Waiter::remaining() const {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - Clock::now());
  return std::max(left, std::chrono::microseconds(0));
}

}  // namespace jtrace::attach
