#include "session/trace_runner.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "session/leave_limit.h"
#include "target/proc_text.h"

namespace jtrace::session {
namespace {

using trace::record::AgentState;

constexpr std::uint64_t kHangUpLimit = 2 * kNanosPerSecond;  // how long a JVM whose agent hung up may take to end

// Reads from a non-blocking signalfd what is there: signals that came together ask once. False if there is none (or no
// descriptor).
bool take_pending_signals(int fd) {
  signalfd_siginfo info{};
  bool found = false;
  while (::read(fd, &info, sizeof info) > 0) found = true;
  return found;
}

// The processor time of the process, ns; 0 if unknown.
std::uint64_t cpu_of(const target::Process& process) {
  const auto stat = process.read_proc("stat");
  const long ticks_a_second = ::sysconf(_SC_CLK_TCK);
  if (!stat || ticks_a_second <= 0) return 0;
  return target::parse_cpu_ticks(*stat) * (kNanosPerSecond / static_cast<std::uint64_t>(ticks_a_second));
}

}  // namespace

TraceRunner::TraceRunner(ControlChannel& channel, PoolFile& pool, trace::record::PoolReader& reader, TraceDrain& drain,
                         TraceOutput& output, const target::Process& process, RunnerOptions options)
    : agent_(channel),
      pool_(pool),
      reader_(reader),
      drain_(drain),
      output_(output),
      process_(process),
      options_(std::move(options)),
      start_(monotonic_ns()),
      next_progress_(start_ + kNanosPerSecond),
      death_(process),
      standstill_(process) {}

// The reader of the output blocks a write (a pager, for example): only a signal ends that.
bool TraceRunner::should_give_up() {
  hurried_ = hurried_ || take_pending_signals(options_.signal_fd);
  return hurried_;
}

TraceSummary TraceRunner::run() {
  const TraceOptions& wanted = drain_.options();
  if ((wanted.events & trace::record::kTimedCalloutEvents) != 0 && !wanted.precise_time) clock_.emplace(reader_);
  output_.set_give_up([this] { return should_give_up(); });
  drain_.set_counter([this] { return agent_.count_now(); });
  while (!reason_) {
    watch_standstill();
    drain();
    if (!reason_) wait_for_something();
  }
  end_ = realtime_ns();
  detach_agent();
  drain_.set_counter({});
  drain_.set_uncounted(why_uncounted());
  if (auto& counts = agent_.last_counts(); counts && !drain_.is_counted_out() && !error_)
    drain_.set_last_counts(std::move(*counts));
  auto ended = drain_.end(TraceDrain::Mode::kFinal);
  if (!ended && !error_) output_failed(std::move(ended).error());
  output_.set_give_up({});
  clock_.reset();
  pool_.remove();
  TraceSummary result = summary();
  for (const Asker& each : waiting_for_end_) answer(each, EndedAnswer{result.status(), result.text()});
  return result;
}

void TraceRunner::end(EndReason reason, std::optional<Error> error) {
  if (!reason_) reason_ = reason;
  if (!error_) error_ = std::move(error);
}

void TraceRunner::output_failed(Error error) {
  const TraceOptions& options = drain_.options();
  const bool near = output_.bytes() + 4 * trace::kClosingReserve >= options.max_size || drain_.is_counted_out();
  const bool by_size = options.max_size != 0 && options.rotate == 0 && trace::is_full(error) && near;
  if (by_size) return end(EndReason::kSizeReached);
  end(EndReason::kOutput, std::move(error));
}

void TraceRunner::check(Result<> written) {
  if (!written) output_failed(std::move(written).error());
}

void TraceRunner::drain() {
  auto pass = drain_.pass(TraceDrain::Mode::kLive);
  if (!pass) return output_failed(std::move(pass).error());
  if (hurried_) return end(EndReason::kInterrupted);
  if (clock_ && pass->events != 0) clock_->keep_fast();
  pace_.adapt(pass->more, pass->events != 0, reader_.counts().free_chunks, reader_.chunk_count());
  const std::uint64_t now = monotonic_ns();
  if (options_.progress && now >= next_progress_) {
    next_progress_ = now + kNanosPerSecond;
    options_.progress(progress());
  }
}

void TraceRunner::watch_standstill() {
  const bool wanted = (drain_.options().events & trace::record::kStandstillEvent) != 0;
  if (!wanted || !drain_.in_trace()) return;
  if (const auto seen = standstill_.look()) check(drain_.write(*seen));
}

void TraceRunner::wait_for_something() {
  std::vector<pollfd> descriptors = {
      {agent_.fd(), POLLIN, 0}, {options_.signal_fd, POLLIN, 0}, {process_.pidfd(), POLLIN, 0}};
  for (const ControlSource* each : options_.controls) each->add_to(descriptors);
  int time = pace_.interval();
  if (const auto& duration = drain_.options().duration) {
    const std::uint64_t now = monotonic_ns();
    if (now >= start_ + *duration) return end(EndReason::kDuration);
    time = static_cast<int>(
        std::min<std::uint64_t>(static_cast<std::uint64_t>(time), (start_ + *duration - now) / 1'000'000 + 1));
  }
  if (::poll(descriptors.data(), descriptors.size(), time) <= 0) return;
  if (descriptors[0].revents != 0) take_frames();
  if (descriptors[1].revents != 0) take_signal();
  if (descriptors[2].revents != 0) watch_target();
  take_requests();
}

void TraceRunner::take_signal() {
  if (take_pending_signals(options_.signal_fd)) signalled_ = true;
  end(EndReason::kInterrupted);
}

void TraceRunner::watch_target() {
  if (!process_.has_exited()) return;
  target_ended_ = true;
  end(EndReason::kTargetEnded);
}

// The end of the JVM closes the socket before the process is seen as ended.
bool TraceRunner::ends_soon() {
  pollfd exit{process_.pidfd(), POLLIN, 0};
  const AgentState state = reader_.agent_state();
  const int limit = state == AgentState::kVmDead ? 10'000 : static_cast<int>(kHangUpLimit / 1'000'000);
  if (process_.pidfd() >= 0) ::poll(&exit, 1, limit);
  return process_.has_exited() || state == AgentState::kVmDead;
}

void TraceRunner::take_frames() {
  auto received = agent_.receive();
  while (const auto answer = agent_.next()) take_answer(*answer);
  if (!received) return end(EndReason::kAgentGone, std::move(received).error());
  if (!agent_.hung_up() || agent_.has_left()) return;
  target_ended_ = ends_soon();
  if (target_ended_) return end(EndReason::kTargetEnded);
  end(EndReason::kAgentGone, Error{.category = ErrorCategory::kAgent, .text = "the agent hung up, the JVM runs on"});
}

void TraceRunner::take_answer(const AgentAnswer& given) {
  if (!given.refusal.empty()) return answer(given.asker, RefusedAnswer{ExitStatus::kAgent, given.refusal});
  switch (given.question) {
    case AgentQuestion::kStatus: return answer(given.asker, status(agent_lines(given.decoded)));
    case AgentQuestion::kPause: set_paused(true); break;
    case AgentQuestion::kResume: set_paused(false); break;
    case AgentQuestion::kStop:
      paused_ = true;
      check(drain_.end_trace(TraceDrain::Mode::kLive));
      break;
    case AgentQuestion::kStart: paused_ = false; break;
    case AgentQuestion::kCount:
      take_counts(given.counts);
      return answer(given.asker, CountedAnswer{given.decoded.counted});
    case AgentQuestion::kFilters:
    case AgentQuestion::kCountForDocument: break;
  }
  answer(given.asker, DoneAnswer{});
}

void TraceRunner::set_paused(bool paused) {
  if (paused_ == paused) return;
  paused_ = paused;
  drain();
  if (!reason_) check(drain_.write(PausedNote{paused}));
}

// Comes after everything recorded so far, including the definitions of methods.
void TraceRunner::take_counts(MethodCounts counts) {
  if (!reason_) drain();
  if (!reason_ && drain_.in_trace()) check(drain_.write(std::move(counts)));
}

// A JVM that ends writes its counts itself.
std::string TraceRunner::why_uncounted() const {
  if (!counts_methods(drain_.options()) || drain_.is_counted_out()) return "";
  if (error_) return "the output failed";
  const bool counted = agent_.last_counts() || reader_.agent_state() == AgentState::kVmDead;
  return counted ? "" : target_ended_ ? "the JVM was killed" : "the agent did not answer";
}

// Makes the agent leave, and drains in the meantime: a JVM that fills its rings must not wait for jtrace. Open requests
// are answered by the end of the trace.
void TraceRunner::detach_agent() {
  if (target_ended_ || agent_.hung_up()) return;
  if (!agent_.leave(counts_methods(drain_.options()) && !drain_.is_counted_out())) return;
  LeaveLimit limit(monotonic_ns(), cpu_of(process_));
  std::uint64_t next_look = 0;
  const auto is_over = [&] {
    const std::uint64_t now = monotonic_ns();
    if (now < next_look) return false;
    next_look = now + kNanosPerSecond / 2;
    return limit.is_over(now, cpu_of(process_));
  };
  // The first signal asks for the end, also where the trace has just ended by itself: the next one does not wait for
  // it.
  bool asked = signalled_ || hurried_, asked_again = false, failed = false;
  while (!agent_.has_left() && !agent_.hung_up() && !asked_again && !is_over()) {
    if (!error_)
      if (auto pass = drain_.pass(TraceDrain::Mode::kLive); !pass) output_failed(std::move(pass).error());
    while (agent_.next()) {
    }
    pollfd descriptors[] = {{agent_.fd(), POLLIN, 0}, {options_.signal_fd, POLLIN, 0}};
    if (::poll(descriptors, 2, 10) <= 0) continue;
    if (descriptors[0].revents != 0) {
      const auto received = agent_.receive();
      while (agent_.next()) {
      }
      failed = !received;
      if (failed) break;
    }
    if (descriptors[1].revents != 0 && take_pending_signals(options_.signal_fd))
      asked_again = std::exchange(asked, true);
  }
  agent_.close();
  if (!agent_.has_left()) target_ended_ = agent_.hung_up() || failed ? ends_soon() : process_.has_exited();
}

Progress TraceRunner::progress() const {
  return {monotonic_ns() - start_, drain_.figures().events, output_.bytes(), reader_.counts().dropped_events};
}

TraceSummary TraceRunner::summary() {
  TraceSummary made;
  made.reason = *reason_;
  made.error = error_;
  made.events = drain_.figures().events;
  made.bytes = output_.bytes();
  made.dropped = reader_.counts().dropped_events;
  made.malformed = drain_.figures().malformed + (pool_.was_cut() ? 1 : 0);
  made.made_up_definitions = drain_.figures().made_up_definitions;
  made.elapsed = monotonic_ns() - start_;
  made.end = end_;
  made.documents = drain_.documents();
  made.agent_left = agent_.has_left() || target_ended_;
  made.target_killed = target_ended_ && reader_.agent_state() != AgentState::kVmDead;
  if (made.target_killed) made.death = death_.describe(reader_.agent_work());
  made.methods_with_callouts = agent_.methods_with_callouts();
  made.uncounted = why_uncounted();
  return made;
}

}  // namespace jtrace::session
