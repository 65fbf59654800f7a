// FirstStates: the states of threads that ran when the trace began (option jtrace.threadState). Each state lasts until
// the thread's first event, or until events may be missing (lost, or the trace was paused), at most until the end of
// the trace. After that it is unknown for a thread whose waits make no events.
//
// Pass every event, in order, after its scope was noted. Memory: a few words for each such thread. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/event.h"
#include "trace/io/scopes.h"

namespace jtrace::trace::io {

struct FirstState {
  std::string state;                   // docs/trace_format.md
  std::uint64_t since = 0, until = 0;  // ns since the epoch
};

class FirstStates {
 public:
  // Called for each state when its end is known.
  using Listener = std::function<void(const Scope&, std::uint64_t thread, const FirstState&)>;
  explicit FirstStates(Listener listener) : listener_(std::move(listener)) {}

  void note(const Event& event, const Scope& scope);
  // No further event follows.
  void finish();

 private:
  struct OfScope {
    const Scope* scope = nullptr;
    std::uint64_t last = 0;  // time of its last event
    std::unordered_map<std::uint64_t, FirstState> open;
  };
  void note_gap(const Gap& gap, OfScope& mine);
  void note_option(const Option& option, OfScope& mine);
  void end(OfScope& mine, std::uint64_t thread, std::uint64_t time);
  void end_all(OfScope& mine);

  Listener listener_;
  std::unordered_map<std::size_t, OfScope> scopes_;
};

}  // namespace jtrace::trace::io
