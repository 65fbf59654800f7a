// The value of option jtrace.gap: how many events of which thread were lost, and in which time (docs/trace_format.md).
// It comes between the thread's last event before the loss and its first one after it. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/option_keys.h"

namespace jtrace::trace {

struct Gap {
  std::uint64_t thread = 0;  // threadId; 0: not known, any thread of the trace
  std::uint64_t from = 0;    // ns since the epoch; 0: not known
  std::uint64_t to = 0;
  std::uint64_t lost = 0;  // events; 0: not known, or counted by the gap of the carrier
  friend bool operator==(const Gap&, const Gap&) = default;
};

// "thread=5,from=1100000000.000000001,to=1100000001.000000000,lost=17", without what is not known.
std::string gap_text(const Gap& gap);
// Nothing if the text is not such a value; unknown keys are skipped.
std::optional<Gap> read_gap(std::string_view text);
// At the end of a document that was full before all events were written. How many these are is not known.
inline bool is_cut_end(const Gap& gap) { return gap.thread == 0 && gap.from != 0 && gap.to == 0 && gap.lost == 0; }
// ns of what seconds_text() wrote (clock_option.h).
std::optional<std::uint64_t> read_seconds(std::string_view seconds);

}  // namespace jtrace::trace
