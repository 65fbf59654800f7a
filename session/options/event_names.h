// The words of --events: element names of trace.dtd, groups of them, and "all". Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::session {

// threads, classes on first reference, gc, monitors, runtime.
std::uint64_t default_events();

// Event bits (trace/record/control.h) of the words. kUsage with the nearest word for an unknown one, and with what
// there is for one that this agent cannot trace yet.
Result<std::uint64_t> events_of_words(const std::vector<std::string>& words);

// The names of the events in `bits`, separated by commas, in the order of the table.
std::string words_of_events(std::uint64_t bits);

// The groups, by what they cost: for help texts.
std::string event_groups_help();
// "threads, classes, ...; threadStart, ...": all words, for messages.
std::string event_words_help();

}  // namespace jtrace::session
