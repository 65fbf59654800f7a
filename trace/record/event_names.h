// The words of --events, and of the option `events` in a document: element names of trace.dtd, groups of them, and
// "all". Made from events.def. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::trace::record {

// The events without --events: threads, classes on first reference, gc, monitors, runtime.
std::uint64_t default_events();

// The event bits (trace/record/control.h) of the words. kUsage: for an unknown word, with the nearest one; for one that
// this agent cannot trace, with those that it can.
Result<std::uint64_t> events_of_words(const std::vector<std::string>& words);

// The event bits of a document's option `events`: words that are not known (of a newer version) are skipped.
std::uint64_t events_in(std::string_view text);

// The events that a value of jtrace.unavailable names before its first ": " ("methods, lines and allocations: why"); 0
// if it names none.
std::uint64_t events_lacking(std::string_view line);

// The names of the events in `bits`, separated by commas, in the order of the table.
std::string words_of_events(std::uint64_t bits);

// The groups, ordered by how much they slow the JVM: for help texts.
std::string event_groups_help();
// "threads, classes, ...; threadStart, ...": all words, for messages.
std::string event_words_help();

}  // namespace jtrace::trace::record
