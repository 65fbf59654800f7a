#include "agent/methods/class_queue.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "agent/jvm_support.h"
#include "agent/methods/mutex_lock.h"
#include "base/clock.h"

namespace jtrace::agent {
namespace {

// After this many failed waits in a row, no thread waits for the length of this interval.
constexpr std::uint32_t kMostInVain = 3;
constexpr std::uint64_t kRest = 10 * kNanosPerSecond;

bool is_reached(std::uint32_t served, std::uint32_t ticket) { return static_cast<std::int32_t>(served - ticket) >= 0; }

}  // namespace

void ClassQueue::add(JNIEnv* jni, jclass klass) {
  const jweak reference = jni->NewWeakGlobalRef(klass);
  if (reference == nullptr) return jni->ExceptionClear();
  Lock lock(lock_);
  classes_.push_back(reference);
}

std::uint32_t ClassQueue::add_urgent(JNIEnv* jni, jclass klass) {
  const jweak reference = jni->NewWeakGlobalRef(klass);
  if (reference == nullptr) {
    jni->ExceptionClear();
    return 0;
  }
  Lock lock(lock_);
  if (closed_) {
    jni->DeleteWeakGlobalRef(reference);
    return 0;
  }
  urgent_.push_back(reference);
  ++asked_;
  return is_worth_waiting() ? asked_ : 0;
}

bool ClassQueue::is_worth_waiting() const {
  return in_vain_.load(std::memory_order_relaxed) < kMostInVain ||
         monotonic_ns() - last_in_vain_.load(std::memory_order_relaxed) > kRest;
}

bool ClassQueue::wait_for(std::uint32_t ticket, std::uint64_t limit_ns) {
  const std::uint64_t since = monotonic_ns();
  for (;;) {
    const std::uint32_t served = served_.load(std::memory_order_acquire);
    if (is_reached(served, ticket)) {
      in_vain_.store(0, std::memory_order_relaxed);
      return true;
    }
    const std::uint64_t waited = monotonic_ns() - since;
    if (waited >= limit_ns) break;
    const std::uint64_t left = limit_ns - waited;
    timespec limit{static_cast<time_t>(left / kNanosPerSecond), static_cast<long>(left % kNanosPerSecond)};
    syscall(SYS_futex, &served_, FUTEX_WAIT_PRIVATE, served, &limit, nullptr, 0);
  }
  in_vain_.fetch_add(1, std::memory_order_relaxed);
  last_in_vain_.store(monotonic_ns(), std::memory_order_relaxed);
  return false;
}

bool ClassQueue::take(JNIEnv* jni, jclass* batch, jint most, jint& count) {
  count = 0;
  while (count < most) {
    jweak reference = nullptr;
    {
      Lock lock(lock_);
      if (next_ == classes_.size()) {
        classes_.clear();
        next_ = 0;
        break;
      }
      reference = classes_[next_++];
    }
    if (jclass klass = take_reference(jni, reference)) batch[count++] = klass;
  }
  return count > 0;
}

bool ClassQueue::take_urgent(JNIEnv* jni, jclass* batch, jint most, jint& count) {
  count = 0;
  std::vector<jweak> taken;
  {
    Lock lock(lock_);
    if (urgent_.empty()) return false;
    // Wakes all waiting threads; there are few.
    const std::size_t some = std::min(urgent_.size(), static_cast<std::size_t>(most));
    taken.assign(urgent_.begin(), urgent_.begin() + static_cast<std::ptrdiff_t>(some));
    urgent_.erase(urgent_.begin(), urgent_.begin() + static_cast<std::ptrdiff_t>(some));
    taken_ = asked_ - static_cast<std::uint32_t>(urgent_.size());
  }
  for (const jweak reference : taken)
    if (jclass klass = take_reference(jni, reference)) batch[count++] = klass;
  return true;
}

bool ClassQueue::has_urgent() {
  Lock lock(lock_);
  return !urgent_.empty();
}

void ClassQueue::wake(std::uint32_t ticket) {
  served_.store(ticket, std::memory_order_release);
  syscall(SYS_futex, &served_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void ClassQueue::done() { wake(taken_); }

void ClassQueue::close(JNIEnv* jni) {
  Lock lock(lock_);
  closed_ = true;
  for (; next_ < classes_.size(); ++next_) jni->DeleteWeakGlobalRef(classes_[next_]);
  for (const jweak reference : urgent_) jni->DeleteWeakGlobalRef(reference);
  urgent_.clear();
  wake(asked_);
}

}  // namespace jtrace::agent
