// One slow call as lines for a terminal and as JSON. Internal to trace/io. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

std::string millis(std::uint64_t ns);  // "17.250"
// As one would type it: "200 ms", "10 s".
std::string limit_text(std::uint64_t ns);

// "Shop.serve(#228)  in "clerk-2"", then lines with this margin: what the call waited for, the callees that took its
// time. Ends with a newline. Without parentheses if the trace has no arguments of it.
std::string call_lines(const ScopeStatistics& statistics, const SlowCall& call, std::size_t margin);
// What the owner did while the wait lasted, if that call is known: ", in Shop.audit for 207.206 ms"; else "".
std::string work_of_owner(const ScopeStatistics& statistics, const Wait& wait);
// The same as members of the JSON object that is open.
void write_work_of_owner(JsonWriter& json, const ScopeStatistics& statistics, const Wait& wait);
// Whether these lines have "other", which needs an explanation, and a thread that "had" a lock.
// "a Shop$Stock"; "the class Shop" where it is known whose java.lang.Class it is. "": neither is.
std::string lock_name(const Scope& scope, std::uint64_t monitor);
// Members of the JSON object that is open; nothing without a monitor.
void write_lock(JsonWriter& json, const Scope& scope, std::uint64_t monitor);
bool shows_other(const SlowCall& call);
bool names_owner(const SlowCall& call);
// Blocked for a monitor of which the lines do not say who had it.
bool lacks_owner(const SlowCall& call);
// It began within kSettling, and did not wait for most of its time.
bool may_be_slow_by_callouts(const Scope& scope, const SlowCall& call);
void write_call(JsonWriter& json, const ScopeStatistics& statistics, const SlowCall& call);

}  // namespace jtrace::trace::io
