// Pauses that the program itself asks for: what the JVM calls their cause, and the command that shows who asks. The
// agent sees no stack of them: java.lang.Runtime.gc is native, and the pause is in a thread of the JVM. The thread that
// asks waits for the pause, and so its stack is among the waits of a profile.
#pragma once

#include <string_view>

namespace jtrace::trace {

inline constexpr std::string_view kSystemGcCause = "System.gc()";
inline constexpr std::string_view kWhoCallsGc =
    "who calls System.gc(): jtrace slow PID --over 20ms --filter 'com.example.*' (with your classes) lists calls that "
    "consist of such a pause; without an agent, jtrace profile PID --off-cpu --duration 30 -o - | grep Runtime.gc";

}  // namespace jtrace::trace
