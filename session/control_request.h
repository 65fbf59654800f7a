// Requests to a running trace, and their answers: the same for `jtrace ctl`, keys and signals. Only the control socket
// has them as text (ctl_socket.h). Pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "session/options/filter_rule.h"

namespace jtrace::session {

enum class ControlVerb : std::uint8_t {
  kStart,  // the next trace, in a new file
  kStop,   // ends the trace
  kPause,
  kResume,
  kFilters,  // replaces the filters
  kFlush,
  kCount,  // writes the counts of calls so far
  kStatus,
  kDetach,  // ends the trace and leaves the JVM
};
// All of them, in the order of the help.
std::span<const ControlVerb> control_verbs();
std::string_view word_of(ControlVerb verb);

struct ControlRequest {
  ControlVerb verb = ControlVerb::kStatus;
  std::vector<FilterRule> filters = {};  // with kFilters
};
// A verb and its arguments, one a line. Error: kUsage.
std::string to_lines(const ControlRequest& request);
Result<ControlRequest> parse_control_request(std::string_view lines);

enum class TraceState : std::uint8_t { kTracing, kPaused, kStopped };

struct DoneAnswer {};
struct StatusAnswer {
  TraceState state = TraceState::kTracing;
  pid_t pid = 0;     // of the JVM
  pid_t jtrace = 0;  // of this process
  std::string file;
  std::uint64_t seconds = 0, events = 0, bytes = 0, lost = 0;
  std::string agent;  // the agent's state, key=value lines
};
struct FlushedAnswer {
  std::uint64_t bytes = 0;  // written so far
};
struct CountedAnswer {
  std::uint64_t methods = 0;
};
struct EndedAnswer {
  ExitStatus status = ExitStatus::kOk;  // of the whole trace
  std::string summary;
};
struct RefusedAnswer {
  ExitStatus status = ExitStatus::kRefused;
  std::string why;
};
using ControlAnswer = std::variant<DoneAnswer, StatusAnswer, FlushedAnswer, CountedAnswer, EndedAnswer, RefusedAnswer>;

ExitStatus status_of(const ControlAnswer& answer);
// As lines for people and scripts; "" if there is nothing to report.
std::string text_of(const ControlAnswer& answer);
RefusedAnswer refusal_of(const Error& error);

}  // namespace jtrace::session
