// The value of option jtrace.gap: between which events of which thread how many were lost (docs/trace_format.md). It
// stands between the last event of the thread before them and the first one after them. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jtrace::trace {

inline constexpr std::string_view kGapKey = "jtrace.gap";
// Declares that losses are told by jtrace.gap: jtrace.dropped then is their sum, and closes nothing.
inline constexpr std::string_view kGapsKey = "jtrace.gaps";
inline constexpr std::string_view kGapsByThread = "by thread";

// Its value is the thread that ends the JVM (System.exit, Runtime.halt), before the threadEnd that comes within its
// calls.
inline constexpr std::string_view kExitKey = "jtrace.exit";

struct Gap {
  std::uint64_t thread = 0;  // threadId; 0: not known, it may be any of the trace's
  std::uint64_t from = 0;    // ns since the epoch; 0: not known
  std::uint64_t to = 0;
  std::uint64_t lost = 0;  // events; 0: not known, or counted by the gap of the carrier
  friend bool operator==(const Gap&, const Gap&) = default;
};

// "thread=5,from=1100000000.000000001,to=1100000001.000000000,lost=17": what is not known is left out.
std::string gap_text(const Gap& gap);
// Nothing where the text is none; what it does not know is skipped.
std::optional<Gap> read_gap(std::string_view text);

}  // namespace jtrace::trace
