// The value of option jtrace.jdk: the number of the JDK (17), in traces whose figures depend on it
// (docs/trace_format.md).
#pragma once

#include <string_view>

namespace jtrace::trace {

inline constexpr std::string_view kJdkKey = "jtrace.jdk";

}  // namespace jtrace::trace
