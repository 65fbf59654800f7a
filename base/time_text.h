// Parses times of options. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jtrace {

// "5", "0.25", "90s", "5m", "1h", "200ms" as ns, or nothing.
std::optional<std::uint64_t> parse_seconds(std::string_view text);

}  // namespace jtrace
