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
#include "trace/record/constant_list.h"
#include "trace/record/control.h"

namespace jtrace::agent {

struct WaitKind {
  std::uint64_t event;    // EventBit
  std::string_view name;  // in messages: its word of events.def
  // Finds in this JVM what the wait needs: nullptr, or the reason why not (static text). No exception is left pending.
  const char* (WaitTracer::*find)(JNIEnv* jni);
  const char* host;  // the class of the JDK that is rewritten, by the boot loader
  const char* with;  // it is rewritten in JVMs that have this class; nullptr: in all
  // False if there is nothing in `klass` to rewrite.
  bool (*rewrite)(const classfile::ClassFile& klass, std::string_view helper, classfile::Bytes& out);
};

inline constexpr WaitKind kWaitKinds[] = {
    {trace::record::kSleepEvent, "sleeps", &WaitTracer::find_sleep, kThreadClass, "java/lang/VirtualThread",
     redirect_sleeps},
    {trace::record::kParkEvent, "parks", &WaitTracer::find_blockers, kLockSupportClass, nullptr, redirect_parks},
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

// "sleeps and parks": jtrace.unavailable begins with them (record::events_lacking).
inline constexpr trace::record::ConstantList kWaitNames = [] {
  std::array<std::string_view, kWaitKindCount> names{};
  for (std::size_t i = 0; i < kWaitKindCount; ++i) names[i] = kWaitKinds[i].name;
  return trace::record::ConstantList(names, " and ");
}();

}  // namespace jtrace::agent
