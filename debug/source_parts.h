// What the sources of live JVMs have in common. Threads: one at a time.
#pragma once

#include <chrono>
#include <string>

#include "coreinspect/model/inspection.h"

namespace jtrace::debug {

std::string time_of_day();                                // now, "10:20:30", local
std::string stop_text(std::chrono::nanoseconds stopped);  // "4.2 ms"
// What was read of a JVM until now is void, because it has run.
Result<> read_anew(coreinspect::Inspection& inspection);

}  // namespace jtrace::debug
