// What a thread waits for, derived from its stack at the moment when it lost its processor: functions of the VM and of
// the kernel, methods of the JDK. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "coreinspect/unwind/java_walker.h"

namespace jtrace::sampling {

enum class WaitKind : std::uint8_t {
  kNone,  // it runs
  kPark,
  kMonitor,  // to enter one
  kWait,     // Object.wait
  kSleep,
  kSocket,
  kPoll,  // for any of several descriptors
  kPipe,
  kFile,
  kPageFault,
  kChild,
  kSafepoint,
  kVm,        // a lock or a queue of the VM
  kNative,    // a lock of native code
  kRunQueue,  // for a processor alone
  kOther,
};
inline constexpr std::size_t kWaitKinds = static_cast<std::size_t>(WaitKind::kOther) + 1;

// "[park]": as in stacks, between the thread and its first frame.
std::string_view to_string(WaitKind kind);
// Of a thread that was not preempted.
WaitKind wait_kind_of(const coreinspect::Walk& walk);
// Whether a thread that is parked waits to get a lock of java.util.concurrent that knows its owner (ReentrantLock,
// ReentrantReadWriteLock), also one whose condition it has waited for; not whether it waits for a condition.
bool parks_for_lock(const coreinspect::Walk& walk);

}  // namespace jtrace::sampling
