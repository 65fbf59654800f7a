// TraceRunner: runs a trace from the agent's Started to the finished document: drains the pool, watches the agent, the
// JVM, signals, `jtrace ctl` and the limits, and at the end makes the agent leave the JVM. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/agent_dialogue.h"
#include "session/coarse_clock.h"
#include "session/control_channel.h"
#include "session/control_source.h"
#include "session/document/method_counts.h"
#include "session/document/trace_drain.h"
#include "session/document/trace_output.h"
#include "session/drain_pace.h"
#include "session/jvm_death.h"
#include "session/pool_file.h"
#include "session/standstill_watch.h"
#include "session/trace_summary.h"
#include "target/process.h"
#include "trace/record/pool_reader.h"

namespace jtrace::session {

struct RunnerOptions {
  int signal_fd = -1;                             // a signalfd; ends the trace when it becomes readable; -1: none
  std::vector<ControlSource*> controls;           // borrowed
  std::function<void(const Progress&)> progress;  // about once a second
};

class TraceRunner {
 public:
  // All borrowed. The agent has sent Started and `drain` has begun.
  TraceRunner(ControlChannel& channel, PoolFile& pool, trace::record::PoolReader& reader, TraceDrain& drain,
              TraceOutput& output, const target::Process& process, RunnerOptions options);

  // The output failed before the trace began: run() only makes the agent leave.
  void fail_output(Error error) { output_failed(std::move(error)); }
  // Runs to the end: the document is finished, the pool's file removed.
  TraceSummary run();

 private:
  void end(EndReason reason, std::optional<Error> error = std::nullopt);
  void drain();
  void output_failed(Error error);
  // An error of the output ends the trace.
  void check(Result<> written);
  void watch_standstill();
  void wait_for_something();
  void take_signal();
  bool should_give_up();
  void watch_target();
  Progress progress() const;
  TraceSummary summary();

  // The agent (trace_runner.cpp).
  void take_frames();
  bool ends_soon();
  void take_answer(const AgentAnswer& answer);
  void take_counts(MethodCounts counts);
  void set_paused(bool paused);
  void detach_agent();
  std::string why_uncounted() const;

  // Requests (trace_requests.cpp).
  void take_requests();
  void serve(const PendingRequest& request);
  void serve_stop(Asker asker);
  void serve_resume(Asker asker);
  void serve_start(Asker asker);
  void serve_filters(Asker asker, const std::vector<FilterRule>& rules);
  void serve_flush(Asker asker);
  void serve_count(Asker asker);
  void serve_detach(Asker asker);
  void ask_agent(AgentQuestion question, Asker asker, std::string_view payload = {});
  static void answer(Asker asker, const ControlAnswer& answer);
  StatusAnswer status(std::string agent) const;

  AgentDialogue agent_;
  PoolFile& pool_;
  trace::record::PoolReader& reader_;
  TraceDrain& drain_;
  TraceOutput& output_;
  const target::Process& process_;
  RunnerOptions options_;
  std::uint64_t start_;
  std::uint64_t end_ = 0;  // TraceSummary::end
  std::uint64_t next_progress_;
  JvmDeath death_;
  StandstillWatch standstill_;
  DrainPace pace_;
  std::optional<EndReason> reason_;
  std::optional<Error> error_;
  std::optional<CoarseClock> clock_;
  bool target_ended_ = false;
  bool paused_ = false;
  bool signalled_ = false;              // a signal has asked for the end
  bool hurried_ = false;                // a signal came while the output's reader blocked us
  std::vector<Asker> waiting_for_end_;  // senders of detach requests
};

}  // namespace jtrace::session
