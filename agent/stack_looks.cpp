#include "agent/stack_looks.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "agent/jvm_fitness.h"
#include "agent/jvm_support.h"
#include "base/clock.h"

namespace jtrace::agent {
namespace {

constexpr int kFirstWithoutRace = 23;
// The JVM makes room for this many frames of each thread before it looks (VM_GetAllStackTraces): 4 MiB in all.
constexpr jint kRoom = 256 * 1024;
constexpr jint kDeepest = 1024;
constexpr jint kShallowest = 64;

jint depth_for(jint threads) { return std::clamp(kRoom / std::max<jint>(threads, 1), kShallowest, kDeepest); }

}  // namespace

void StackLooks::start(jvmtiEnv* jvmti) {
  careful_ = major_version(jvmti) < kFirstWithoutRace;
  if (careful_) most_frames_ = kDeepest;
}

bool StackLooks::take(std::uint64_t limit_ns) {
  std::uint32_t nobody = 0;
  if (busy_.compare_exchange_strong(nobody, 1, std::memory_order_acquire)) return true;
  const std::uint64_t since = monotonic_ns();
  while (busy_.exchange(2, std::memory_order_acquire) != 0) {
    const std::uint64_t waited = monotonic_ns() - since;
    if (waited >= limit_ns) return false;
    const std::uint64_t left = limit_ns - waited;
    timespec limit{static_cast<time_t>(left / kNanosPerSecond), static_cast<long>(left % kNanosPerSecond)};
    syscall(SYS_futex, &busy_, FUTEX_WAIT_PRIVATE, 2, &limit, nullptr, 0);
  }
  return true;
}

void StackLooks::give_back() {
  if (busy_.exchange(0, std::memory_order_release) == 2)
    syscall(SYS_futex, &busy_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void StackLooks::close() {
  if (!careful_) return;
  closed_.store(true, std::memory_order_seq_cst);
  if (take(kNanosPerSecond)) give_back();
}

void StackLooks::settle(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (!closed_.load(std::memory_order_relaxed)) return;
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti);
  if (jvmti->GetAllThreads(&count, threads.out()) != JVMTI_ERROR_NONE) return;
  accept_references(jni, count);
  for (jint i = 0; i < count; ++i) jni->DeleteLocalRef(threads[i]);
  const jint depth = depth_for(count);
  JvmtiMemory<jvmtiStackInfo> stacks(jvmti);
  if (jvmti->GetAllStackTraces(depth, stacks.out(), &count) != JVMTI_ERROR_NONE) return;  // stays closed
  accept_references(jni, count);
  for (jint i = 0; i < count; ++i) jni->DeleteLocalRef(stacks[i].thread);
  most_frames_.store(depth, std::memory_order_relaxed);
  closed_.store(false, std::memory_order_seq_cst);
}

jint StackLooks::frames_of(jvmtiEnv* jvmti, jthread thread, jint skip, jint most, jvmtiFrameInfo* frames) {
  constexpr std::uint64_t kPatience = 50'000'000;  // ns; a look takes microseconds, one at a very deep stack some ms
  jint count = 0;
  if (thread == nullptr) return 0;
  if (careful_ && !take(kPatience)) {
    skipped_.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  if (closed_.load(std::memory_order_seq_cst)) skipped_.fetch_add(1, std::memory_order_relaxed);
  else if (jvmti->GetStackTrace(thread, skip, most, frames, &count) != JVMTI_ERROR_NONE) count = 0;
  if (careful_) give_back();
  return count;
}

}  // namespace jtrace::agent
