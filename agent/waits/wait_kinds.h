// The waits that JVM TI has no events for: one table, which all that prepares, starts and ends them walks. A row is all
// that WaitTracer must know of a wait.
#pragma once

#include <jni.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/waits/wait_redirect.h"
#include "agent/waits/wait_tracer.h"
#include "trace/record/control.h"

namespace jtrace::agent {

struct WaitKind {
  std::uint64_t event;    // EventBit
  std::string_view name;  // in messages
  // Finds in this JVM what the wait needs: nullptr, or the reason why not (static text). No exception is left pending.
  const char* (WaitTracer::*find)(JNIEnv* jni);
  const char* host;  // the class of the JDK that is rewritten, by the boot loader
  const char* with;  // it is rewritten in JVMs that have this class; nullptr: in all
  // False if there is nothing in `klass` to rewrite.
  bool (*rewrite)(const classfile::ClassFile& klass, std::string_view helper, classfile::Bytes& out);
};

inline constexpr WaitKind kWaitKinds[] = {
    {trace::record::kSleepEvent, "Thread.sleep", &WaitTracer::find_sleep, kThreadClass, "java/lang/VirtualThread",
     redirect_sleeps},
    {trace::record::kParkEvent, "LockSupport.park", &WaitTracer::find_blockers, kLockSupportClass, nullptr,
     redirect_parks},
};
inline constexpr std::size_t kWaitKindCount = sizeof kWaitKinds / sizeof kWaitKinds[0];

inline constexpr std::uint64_t kWaitEvents = [] {
  std::uint64_t events = 0;
  for (const WaitKind& kind : kWaitKinds) events |= kind.event;
  return events;
}();
static_assert(
    [] {
      for (const WaitKind& kind : kWaitKinds)
        if (kind.find == nullptr || kind.host == nullptr || kind.rewrite == nullptr) return false;
      return true;
    }(),
    "a row of kWaitKinds is not whole: nothing would make its event");

// "Thread.sleep and LockSupport.park".
class WaitNames {
 public:
  constexpr WaitNames() {
    for (std::size_t i = 0; i < kWaitKindCount; ++i) {
      if (i != 0) append(i + 1 == kWaitKindCount ? " and " : ", ");
      append(kWaitKinds[i].name);
    }
  }
  constexpr std::string_view view() const { return {text_.data(), size_}; }

 private:
  constexpr void append(std::string_view part) {
    for (const char c : part) text_[size_++] = c;  // does not compile if there is no room
  }
  std::array<char, 256> text_{};
  std::size_t size_ = 0;
};
inline constexpr WaitNames kWaitNames;

}  // namespace jtrace::agent
