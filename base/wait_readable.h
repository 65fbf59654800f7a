// Waits for a descriptor until a given time. Header only. Any thread.
#pragma once

#include <poll.h>

#include "base/clock.h"

namespace jtrace {

// True if `fd` became readable before `until` (CLOCK_MONOTONIC, ns). `fd` -1: only waits. Interrupted waits are
// continued.
inline bool wait_readable(int fd, std::uint64_t until) {
  for (std::uint64_t now = monotonic_ns(); now < until; now = monotonic_ns()) {
    pollfd descriptor{.fd = fd, .events = POLLIN, .revents = 0};
    const std::uint64_t left = until - now;
    const timespec timeout{static_cast<time_t>(left / kNanosPerSecond), static_cast<long>(left % kNanosPerSecond)};
    if (::ppoll(&descriptor, fd >= 0 ? 1 : 0, &timeout, nullptr) > 0) return true;
  }
  return false;
}

}  // namespace jtrace
