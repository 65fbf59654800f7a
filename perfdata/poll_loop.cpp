#include "perfdata/poll_loop.h"

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"

namespace jtrace::perfdata {
namespace {

// The next multiple of `interval` after `last` that is still to come; the number of skipped ones is added to `skipped`.
std::uint64_t next_tick(std::uint64_t last, std::uint64_t interval, std::uint64_t now, std::uint64_t& skipped) {
  if (interval == 0) return now;
  std::uint64_t next = last + interval;
  if (next < now) {
    const std::uint64_t late = (now - next) / interval;
    skipped += late;
    next += late * interval;
  }
  return next;
}

}  // namespace

PollLoop::PollLoop(const PollPlan& plan, int stop_fd) : plan_(plan), stop_fd_(stop_fd) {
  // Otherwise the kernel may delay a wake-up by 50 us, which is much at 1 kHz.
  if (plan.interval < std::chrono::milliseconds(20) || plan.pause_interval.count() != 0)
    ::prctl(PR_SET_TIMERSLACK, 1000);
}

PollLoop::Wake PollLoop::wait() {
  const auto interval = static_cast<std::uint64_t>(plan_.interval.count());
  const auto pause_interval = static_cast<std::uint64_t>(plan_.pause_interval.count());
  if (samples_ == 0) {
    started_ = next_sample_ = next_pauses_ = monotonic_ns();
    ++samples_;
    return Wake::kSample;
  }
  if (plan_.count != 0 && samples_ >= plan_.count) return Wake::kDone;
  const std::uint64_t now = monotonic_ns();
  std::uint64_t ignored = 0;
  const std::uint64_t sample = next_tick(next_sample_, interval, now, ignored);
  const std::uint64_t pauses = pause_interval == 0 ? UINT64_MAX : next_tick(next_pauses_, pause_interval, now, ignored);
  const std::uint64_t end =
      plan_.duration.count() == 0 ? UINT64_MAX : started_ + static_cast<std::uint64_t>(plan_.duration.count());
  Wake wake = Wake::kDone;
  if (!sleep_until(std::min({sample, pauses, end}), wake)) return wake;
  if (end <= std::min(sample, pauses)) return Wake::kDone;
  if (sample <= pauses) {
    next_sample_ = next_tick(next_sample_, interval, now, skipped_);
    if (sample == pauses) next_pauses_ = pauses;  // a sample sees the pauses too
    ++samples_;
    return Wake::kSample;
  }
  next_pauses_ = pauses;
  return Wake::kPauses;
}

// False if something other than the time ended the wait; `wake` says what.
bool PollLoop::sleep_until(std::uint64_t deadline, Wake& wake) {
  std::vector<pollfd> polled;
  polled.push_back({.fd = stop_fd_, .events = POLLIN, .revents = 0});
  for (const int fd : pidfds_) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  for (;;) {
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t left = deadline > now ? deadline - now : 0;
    const timespec timeout{.tv_sec = static_cast<time_t>(left / kNanosPerSecond),
                           .tv_nsec = static_cast<long>(left % kNanosPerSecond)};
    const int ready = ::ppoll(polled.data(), polled.size(), &timeout, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return true;
    if (polled[0].revents != 0) {
      wake = Wake::kStopped;
      return false;
    }
    const auto gone = std::find_if(polled.begin() + 1, polled.end(), [](const pollfd& p) { return p.revents != 0; });
    ended_ = static_cast<std::size_t>(gone - polled.begin()) - 1;
    wake = Wake::kEnded;
    return false;
  }
}

}  // namespace jtrace::perfdata
