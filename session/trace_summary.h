// How a trace ended and what it wrote. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace jtrace::session {

enum class EndReason {
  kDuration,     // --duration is over
  kInterrupted,  // Ctrl-C, SIGTERM
  kDetached,     // `jtrace ctl PID detach`
  kTargetEnded,  // the JVM
  kSizeReached,  // --max-size
  kOutput,       // no room, or the output failed: `error` says
  kAgentGone,    // the agent hung up, the JVM lives
};

struct TraceSummary {
  EndReason reason = EndReason::kInterrupted;
  std::optional<Error> error;  // of the output, or of the agent
  std::uint64_t events = 0;    // elements
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;              // events that found no room in the ring memory
  std::uint64_t malformed = 0;            // places in the ring memory that made no sense
  std::uint64_t made_up_definitions = 0;  // ids whose definition found no room
  std::uint64_t elapsed = 0;              // ns
  std::uint64_t end = 0;  // ns since the epoch: when the agent was asked to leave; later ends are unseen
  std::uint64_t documents = 1;
  bool agent_left = false;     // it reported that it has left the JVM, or the JVM has ended
  bool target_killed = false;  // the JVM did not end by itself
  std::string death = {};      // how the JVM was killed (JvmDeath)
  // Of loaded classes, at the end; nothing: not known, or not wanted.
  std::optional<std::uint64_t> methods_with_callouts = {};
  std::string uncounted = {};  // why the counts of calls are missing; "": they are there, or were not requested

  ExitStatus status() const;
  // "12345 events, 3.4 MiB in 12.3 s", and what was lost.
  std::string text() const;
};

// If the trace has grown so fast that it is a burden: how fast, and the options that make it smaller. "": it has not.
// `events`: EventBit, what was traced.
std::string advice_of_size(const TraceSummary& summary, std::uint64_t events, bool slow_calls_only);

struct Progress {
  std::uint64_t elapsed = 0;  // ns
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
};

}  // namespace jtrace::session
