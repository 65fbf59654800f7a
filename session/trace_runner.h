// TraceRunner: a trace that runs, from the agent's Started to the finished document: drains the pool, watches the
// agent, the JVM, signals, `jtrace ctl` and the limits, and at the end has the agent leave the JVM. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/coarse_clock.h"
#include "session/control_channel.h"
#include "session/control_source.h"
#include "session/document/method_counts.h"
#include "session/document/trace_drain.h"
#include "session/document/trace_output.h"
#include "session/jvm_death.h"
#include "session/pool_file.h"
#include "target/process.h"
#include "target/standstill.h"
#include "trace/record/pool_reader.h"

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
  std::uint64_t documents = 1;
  bool agent_left = false;     // it said that it has gone out of the JVM (or the JVM has ended)
  bool target_killed = false;  // the JVM did not end by itself
  std::string death = {};      // how, where it did not (JvmDeath)
  std::string uncounted = {};  // why counts of calls that were asked for are not there; "": they are, or were not

  ExitStatus status() const;
  // "12345 events, 3.4 MiB in 12.3 s", and what was lost.
  std::string text() const;
};

struct Progress {
  std::uint64_t elapsed = 0;  // ns
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
};

struct RunnerOptions {
  int signal_fd = -1;                             // a signalfd; readable ends the trace; -1: none
  std::vector<ControlSource*> controls;           // borrowed
  std::function<void(const Progress&)> progress;  // about once a second
};

class TraceRunner {
 public:
  // All borrowed. The agent has said Started and `drain` has begun.
  TraceRunner(ControlChannel& channel, PoolFile& pool, trace::record::PoolReader& reader, TraceDrain& drain,
              TraceOutput& output, const target::Process& process, RunnerOptions options);

  // The output failed before the trace began: run() only leads the agent out.
  void fail_output(Error error) { output_failed(std::move(error)); }
  // Runs to the end. The document is finished, the pool's file removed.
  TraceSummary run();

 private:
  static constexpr int kNobody = -1;  // who asked for what we ask of our own accord
  struct Asked {                      // a frame the agent owes an Answer to
    int client;
    std::string verb;
  };
  void end(EndReason reason, std::optional<Error> error = std::nullopt);
  void drain();
  void output_failed(Error error);
  void watch_standstill();
  void wait_for_something();
  void take_frames();
  void take_answer(const Frame& frame);
  void take_signal();
  bool should_give_up();
  void watch_target();
  void take_ctl_requests();
  void serve(const CtlRequest& request);
  void ask_agent(const CtlRequest& request, trace::record::FrameType type, std::string_view payload = {});
  void serve_filters(const CtlRequest& request);
  void take_frame(const Frame& frame);
  void take_last_frame(const Frame& frame);
  void take_deferred(void (TraceRunner::*take)(const Frame&));
  void take_counts(MethodCounts counts, std::string_view coverage);
  Result<MethodCounts> count_now();
  std::string why_uncounted() const;
  void serve_count(const CtlRequest& request);
  void serve_start(const CtlRequest& request);
  void answer(int client, ExitStatus status, std::string_view text);
  std::string status_text() const;
  void stop_trace();
  void detach_agent();
  Progress progress() const;
  TraceSummary summary();

  ControlChannel& channel_;
  PoolFile& pool_;
  trace::record::PoolReader& reader_;
  TraceDrain& drain_;
  TraceOutput& output_;
  const target::Process& process_;
  RunnerOptions options_;
  std::uint64_t start_;
  std::uint64_t next_progress_;
  JvmDeath death_;
  std::optional<EndReason> reason_;
  std::optional<Error> error_;
  std::optional<CoarseClock> clock_;
  bool target_ended_ = false;
  bool detached_ = false;
  bool paused_ = false;
  bool signalled_ = false;
  bool hurried_ = false;  // a signal came while the output's reader held us up
  int interval_ = 5;      // ms to the next pass
  std::deque<Asked> asked_;
  std::deque<Frame> deferred_;  // received while count_now() waited
  MethodCounts counts_;         // of the Count whose Answer is still to come
  bool leaving_ = false;        // the agent was told to leave
  target::Standstill standstill_;
  bool stands_still_ = false;
  std::uint64_t still_until_ = 0;  // when it was last seen standing still
  std::uint64_t next_look_ = 0;
  std::optional<MethodCounts> last_counts_;
  std::vector<int> waiting_for_end_;  // ctl clients that asked for detach
};

}  // namespace jtrace::session
