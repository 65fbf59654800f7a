// Parses and writes times of options. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jtrace {

// What a number without a unit is in, in ns.
enum class PlainUnit : std::uint64_t { kMilliseconds = 1'000'000, kSeconds = 1'000'000'000 };

// "5", "0.25" (in `plain`), "50us", "200ms", "90s", "5m", "1h", "2d" as ns, or nothing.
std::optional<std::uint64_t> parse_duration(std::string_view text, PlainUnit plain = PlainUnit::kSeconds);
// With a number without a unit in seconds.
std::optional<std::uint64_t> parse_seconds(std::string_view text);

// "1h", "90s", "200ms", "50us", "7ns": in the largest unit that has no fraction; "0s".
std::string duration_text(std::uint64_t ns);

}  // namespace jtrace
