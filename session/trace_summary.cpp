#include "session/trace_summary.h"

#include <cstdio>

#include "base/size_text.h"
#include "base/strings.h"
#include "trace/byte_sink.h"

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

}  // namespace jtrace::session
