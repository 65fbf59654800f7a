// The names of the classes that the agent defines in the JVM (callout_code.cpp, wait_class.h, jvmpi). Pure.
#pragma once

#include <string_view>

namespace jtrace::trace::record {

// Internal form. All of them begin so: the agent does not change them, and the report of a crash in one names jtrace.
inline constexpr std::string_view kAgentClassPrefix = "java/lang/JTrace";
// The same as reports of the JVM write it.
inline constexpr std::string_view kAgentClassPrefixInReports = "java.lang.JTrace";

}  // namespace jtrace::trace::record
