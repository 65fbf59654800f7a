// The words of events.def at compile time, for the agent and jtrace: what messages and the option jtrace.unavailable
// name events by. (event_names.h reads and writes the words of --events.)
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "trace/record/constant_list.h"
#include "trace/record/control.h"

namespace jtrace::trace::record {

// A row of events.def.
enum class EventWhen { kDefault, kAll, kNamed, kOption };
struct EventRow {
  std::uint64_t bit;
  EventWhen when;
  EventCallouts callouts;
  std::string_view groups, words;

  constexpr std::string_view first_group() const { return groups.substr(0, groups.find(' ')); }
};
inline constexpr EventRow kEventRows[] = {
#define EVENT_BIT(number, Name, when, callouts, groups, words) \
  {k##Name##Event, EventWhen::k##when, EventCallouts::k##callouts, groups, words},
#include "trace/record/events.def"
#undef EVENT_BIT
};

// The first element of an event: "objAlloc".
constexpr std::string_view element_of(std::uint64_t bit) {
  for (const EventRow& row : kEventRows)
    if (row.bit == bit) return row.words.substr(0, row.words.find(' '));
  return {};
}

// "methods, calls and lines": the first group of each event in a set, once.
constexpr ConstantList groups_of(std::uint64_t events, std::string_view before_last) {
  std::array<std::string_view, std::size(kEventRows)> groups{};
  std::size_t count = 0;
  for (const EventRow& row : kEventRows)
    if ((row.bit & events) != 0 && (count == 0 || groups[count - 1] != row.first_group()))
      groups[count++] = row.first_group();
  return {std::span(groups).first(count), before_last};
}

inline constexpr ConstantList kCalloutGroupsOr = groups_of(kCalloutEvents, " or ");
inline constexpr ConstantList kCalloutGroupsAnd = groups_of(kCalloutEvents, " and ");

}  // namespace jtrace::trace::record
