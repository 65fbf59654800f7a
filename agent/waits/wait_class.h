// The class that reports waits (wait_redirect.h): in java.lang, defined by the boot loader. Its methods for redirected
// calls report the wait, make the call, and report its end, also after an exception. parking() and parked() are called
// before and after a park of a platform thread. Pure; no JVM.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/classfile/bytes.h"
#include "trace/record/agent_classes.h"

namespace jtrace::agent {

// The number is the class's version.
inline constexpr char kWaitClass[] = "java/lang/JTraceWaits2";
static_assert(std::string_view(kWaitClass).starts_with(trace::record::kAgentClassPrefix));
// Its static field with the address of the WaitArea (wait_tracer.h).
inline constexpr char kWaitAreaField[] = "AREA";
// static boolean bind(boolean): calls bind0, so that the caller that RegisterNatives sees is a class of the boot
// loader. For other callers the JVM prints a warning on the program's stdout (JDK 16 and later).
inline constexpr char kWaitBind[] = "bind";
// The mode that before() and parking0() are given (wait_natives.def), with the time to wait. The result of before() is
// passed to after().
enum WaitMode : std::int32_t {
  kSleepNanos = 0,
  kParkNanos = 1,  // 0: until it is woken
  kParkUntil = 2,  // ms since the epoch
};

// `hidden`: this JVM's annotation for frames that stack traces leave out.
classfile::Bytes make_wait_class(std::uint64_t area, std::string_view hidden);

}  // namespace jtrace::agent
