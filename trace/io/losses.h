// What a trace lost when it was made, as its options say: for answers that are made from it. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "trace/event.h"
#include "trace/gap_option.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {

struct Losses {
  std::uint64_t events = 0;  // jtrace.dropped
  bool lacks_end = false;    // the output was full before all events were written; their number is not known
  bool any() const { return events != 0 || lacks_end; }
  Losses& operator+=(const Losses& other) {
    events += other.events;
    lacks_end = lacks_end || other.lacks_end;
    return *this;
  }
};

// Of one option. Something was lost even if the number cannot be read.
inline Losses losses_of(const Option& option) {
  if (option.key.view() == kDroppedKey)
    return {.events = parse_decimal<std::uint64_t>(option.value.view()).value_or(1)};
  if (option.key.view() != kGapKey) return {};
  const auto gap = read_gap(option.value.view());
  return {.lacks_end = gap && is_cut_end(*gap)};
}

inline constexpr std::string_view kLacksEnd =
    "events of the end are missing, and how many is not known: there was no room for them";

// A line each: "17 events lost while tracing".
inline std::vector<std::string> lines_of(const Losses& losses) {
  std::vector<std::string> lines;
  if (losses.events != 0) lines.push_back(counted(losses.events, "event") + " lost while tracing");
  if (losses.lacks_end) lines.emplace_back(kLacksEnd);
  return lines;
}

}  // namespace jtrace::trace::io
