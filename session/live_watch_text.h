// How LiveWatch writes times and pauses: short, for a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "trace/event.h"

namespace jtrace::session {

// "12:34:56.789", UTC. `wall`: ns since the epoch.
std::string time_of_day(std::uint64_t wall);
// "3.2 ms", "250 ms", "1.5 s".
std::string duration_text(std::uint64_t ns);
// What is known of a pause of the collector: " (young, G1 Evacuation Pause); 10.0 MiB were used before, then 2.0 MiB of
// 64.0 MiB"; "" if nothing is.
std::string pause_text(const trace::GcFinish& finish);

}  // namespace jtrace::session
