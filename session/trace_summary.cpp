#include "session/trace_summary.h"

#include <cstdio>

#include "base/size_text.h"
#include "base/strings.h"
#include "trace/byte_sink.h"
#include "trace/record/control.h"

namespace jtrace::session {
ExitStatus TraceSummary::status() const {
  if (reason == EndReason::kOutput && error) return trace::is_full(*error) ? ExitStatus::kPartial : exit_status(*error);
  if (reason == EndReason::kAgentGone) return ExitStatus::kAgent;
  if (dropped != 0 || malformed != 0 || made_up_definitions != 0 || error || !uncounted.empty())
    return ExitStatus::kPartial;
  return agent_left ? ExitStatus::kOk : ExitStatus::kTimeout;
}

std::string TraceSummary::text() const {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", static_cast<double>(elapsed) / 1e9);
  std::string text = counted(events, "event") + ", " + size_text(bytes) + " in " + seconds + " s";
  if (documents > 1) text += ", in " + counted(documents, "document");
  if (dropped != 0) text += ", " + counted(dropped, "event") + " lost";
  return text;
}

std::string advice_of_size(const TraceSummary& summary, std::uint64_t events, bool slow_calls_only) {
  constexpr double kManyEvents = 200'000, kManyBytes = 50e6;  // per second
  constexpr std::uint64_t kLeast = 1'000'000'000;             // ns: a shorter trace has no rate
  if (summary.elapsed < kLeast) return {};
  const double seconds = static_cast<double>(summary.elapsed) / 1e9;
  const double rate = static_cast<double>(summary.events) / seconds;
  const double bytes = static_cast<double>(summary.bytes) / seconds;
  if (rate < kManyEvents && bytes < kManyBytes) return {};
  std::string text = std::to_string(static_cast<std::uint64_t>(rate)) + " events and " +
                     size_text(static_cast<std::uint64_t>(bytes)) + " a second: ";
  const bool has_calls = (events & trace::record::kMethodEvent) != 0;
  if (has_calls && !slow_calls_only)
    text += "--slower-than 10ms (only calls that took as long), --events counts (only how often each was called) or ";
  return text + "a narrower --filter makes the trace smaller, and slows the JVM less";
}

}  // namespace jtrace::session
