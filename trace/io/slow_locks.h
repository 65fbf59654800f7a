// The locks that threads waited for, by who had them, as a table for a terminal and as JSON. Internal to trace/io. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

// Waits for one lock while one thread had it (as each wait began).
struct WaitedLock {
  std::uint64_t monitor = 0, owner = 0;
  std::uint64_t waits = 0, total = 0;  // ns
  std::uint64_t any = 0;               // ns in which at least one thread waited so
  Wait longest;
};
// Those with the greatest `any` first, at most `most`, without those of less than a hundredth of the trace.
std::vector<WaitedLock> waited_locks(const ScopeStatistics& statistics, std::size_t most);

// "" if there are none.
std::string waited_locks_text(const ScopeStatistics& statistics, const std::vector<WaitedLock>& locks);
// The member "locks" of the JSON object that is open.
void write_waited_locks(JsonWriter& json, const ScopeStatistics& statistics, const std::vector<WaitedLock>& locks);

}  // namespace jtrace::trace::io
