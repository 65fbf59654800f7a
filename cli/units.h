// Options that take a time or a size: one way to read them, and one line about what is wrong with them. And the old
// names of options. Threads: one.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/time_text.h"

namespace jtrace::cli {

struct TimeRange {
  PlainUnit plain = PlainUnit::kSeconds;  // of a number without a unit
  std::chrono::nanoseconds least{0}, most = std::chrono::hours(24 * 365);
};
// Of --max-stop.
inline constexpr TimeRange kStopRange{PlainUnit::kMilliseconds, std::chrono::milliseconds(1),
                                      std::chrono::milliseconds(600'000)};

// For options whose word is read elsewhere.
CLI::Validator is_time(TimeRange range = {});
CLI::Validator is_size();

CLI::Option* add_time(CLI::App& command, const std::string& names, std::function<void(std::chrono::nanoseconds)> take,
                      const std::string& help, TimeRange range = {});
// `value` lives as long as `command`, and is not changed if the option is not given.
template <class Duration>
CLI::Option* add_time(CLI::App& command, const std::string& names, Duration& value, const std::string& help,
                      TimeRange range = {}) {
  const auto take = [&value](std::chrono::nanoseconds time) { value = std::chrono::duration_cast<Duration>(time); };
  return add_time(command, names, std::function<void(std::chrono::nanoseconds)>(take), help, range);
}
CLI::Option* add_size(CLI::App& command, const std::string& names, std::uint64_t& value, const std::string& help);

// "" for a word that may be a number, otherwise what is wrong: as numbers without a sign, "-1" would be a great one.
std::string is_count(const std::string& word);
// --rows; 0 means all of them: `rows` gets the greatest number.
CLI::Option* add_rows(CLI::App& command, std::size_t& rows, const std::string& help);

// A name that the option once had: scripts may use it; help, completion and documents do not have it.
void add_old_name(CLI::App& command, CLI::Option* option, const std::string& name);
inline bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

}  // namespace jtrace::cli
