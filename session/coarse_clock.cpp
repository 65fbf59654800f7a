#include "session/coarse_clock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

namespace jtrace::session {
namespace {

constexpr long kFast = 100'000;    // ns
constexpr long kSlow = 1'000'000;  // ns

}  // namespace

CoarseClock::CoarseClock(const trace::record::PoolReader& reader) : reader_(reader) {
  reader_.tick();
  // Signals go to the thread that waits for them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CoarseClock::~CoarseClock() {
  ends_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void CoarseClock::run() {
  ::prctl(PR_SET_TIMERSLACK, 1'000, 0, 0, 0);
  std::uint32_t gaps = 0;
  while (!ends_.load(std::memory_order_relaxed)) {
    reader_.tick(gaps);
    const bool fast = busy_.load(std::memory_order_relaxed) > 0;
    if (fast) busy_.fetch_sub(1, std::memory_order_relaxed);
    const timespec time{0, fast ? kFast : kSlow};
    ::nanosleep(&time, nullptr);
  }
}

}  // namespace jtrace::session
