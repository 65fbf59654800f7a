// A moment as text, in UTC. Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace {

inline constexpr char kIsoSeconds[] = "%Y-%m-%dT%H:%M:%SZ";  // ISO 8601

// `ns`: since the epoch; its fraction of a second is left out. `format`: of strftime(3). "" if the year has no name.
std::string utc_text(std::int64_t ns, const char* format);

}  // namespace jtrace
