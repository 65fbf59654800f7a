#include "session/trace_runner.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/strings.h"

namespace jtrace::session {
namespace {

using trace::record::AgentState;
using trace::record::FrameType;

constexpr int kLongestInterval = 20;                          // ms
constexpr std::uint64_t kDetachLimit = 15 * kNanosPerSecond;  // for the agent to leave the JVM
constexpr std::uint64_t kCountLimit =
    2 * kNanosPerSecond;                             // for the counts at the end of a file; the JVM's events wait
constexpr std::uint64_t kLookInterval = 50'000'000;  // ns between looks whether the process stands still
constexpr const char* kForAFile = "counts for the end of a file";
constexpr std::uint64_t kHangUpLimit = 2 * kNanosPerSecond;  // for a JVM whose agent hung up to be seen as ended

std::string size_text(std::uint64_t bytes) {
  char text[32];
  if (bytes < 10'000) std::snprintf(text, sizeof text, "%llu bytes", static_cast<unsigned long long>(bytes));
  else if (bytes < (10u << 20)) std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  else std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1u << 20));
  return text;
}

// Reads one signal off a non-blocking signalfd; false where there is none (or no descriptor).
bool take_pending_signal(int fd) {
  signalfd_siginfo info{};
  return ::read(fd, &info, sizeof info) > 0;
}

}  // namespace

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
  std::string text = std::to_string(events) + " events, " + size_text(bytes) + " in " + seconds + " s";
  if (documents > 1) text += ", in " + std::to_string(documents) + " documents";
  if (dropped != 0) text += ", " + std::to_string(dropped) + " events lost";
  return text;
}

TraceRunner::TraceRunner(ControlChannel& channel, PoolFile& pool, trace::record::PoolReader& reader, TraceDrain& drain,
                         TraceOutput& output, const target::Process& process, RunnerOptions options)
    : channel_(channel),
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

// The output's reader holds a write up, maybe a person who pages through it: only a signal ends that.
bool TraceRunner::should_give_up() {
  hurried_ = hurried_ || take_pending_signal(options_.signal_fd);
  return hurried_;
}

TraceSummary TraceRunner::run() {
  const TraceOptions& wanted = drain_.options();
  if ((wanted.events & trace::record::kTimedProbeEvents) != 0 && !wanted.precise_time) clock_.emplace(reader_);
  output_.set_give_up([this] { return should_give_up(); });
  drain_.set_counter([this] { return count_now(); });
  while (!reason_) {
    watch_standstill();
    drain();
    if (!reason_) wait_for_something();
  }
  detach_agent();
  drain_.set_counter({});
  drain_.set_uncounted(why_uncounted());
  if (last_counts_ && !drain_.is_counted_out() && !error_) drain_.set_last_counts(std::move(*last_counts_));
  auto ended = drain_.end(TraceDrain::Mode::kFinal);
  if (!ended && !error_) output_failed(std::move(ended).error());
  output_.set_give_up({});
  clock_.reset();
  pool_.remove();
  TraceSummary result = summary();
  for (const int client : waiting_for_end_) answer(client, result.status(), result.text() + "\n");
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

void TraceRunner::drain() {
  auto pass = drain_.pass(TraceDrain::Mode::kLive);
  if (!pass) return output_failed(std::move(pass).error());
  if (hurried_) return end(EndReason::kInterrupted);
  if (clock_ && pass->events != 0) clock_->keep_fast();
  const auto counts = reader_.counts();
  const bool filling = counts.free_chunks < reader_.chunk_count() / 4 * 3;
  const bool nearly_full = counts.free_chunks < reader_.chunk_count() / 4;
  if (pass->more || (nearly_full && pass->events != 0)) interval_ = 0;
  else if (filling) interval_ = 1;
  else if (pass->events != 0) interval_ = std::max(1, interval_ * 3 / 4);
  else interval_ = std::min(kLongestInterval, interval_ + 1 + interval_ / 4);
  const std::uint64_t now = monotonic_ns();
  if (options_.progress && now >= next_progress_) {
    next_progress_ = now + kNanosPerSecond;
    options_.progress(progress());
  }
}

// What is said is what was seen: it stood still between the first look that found it so and the last one.
void TraceRunner::watch_standstill() {
  const bool wanted = (drain_.options().events & trace::record::kStandstillEvent) != 0;
  const std::uint64_t now = monotonic_ns();
  if (!wanted || !drain_.in_trace() || now < next_look_) return;
  next_look_ = now + kLookInterval;
  const bool still = standstill_.is_still();
  if (!still && !stands_still_) return;
  if (still) still_until_ = stands_still_ ? now : monotonic_ns();
  stands_still_ = still;
  if (auto said = drain_.say_standstill(still_until_, still); !said) output_failed(std::move(said).error());
}

void TraceRunner::wait_for_something() {
  std::vector<pollfd> descriptors = {
      {channel_.fd(), POLLIN, 0}, {options_.signal_fd, POLLIN, 0}, {process_.pidfd(), POLLIN, 0}};
  for (const ControlSource* each : options_.controls) each->add_to(descriptors);
  int time = interval_;
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
  take_ctl_requests();
}

void TraceRunner::take_signal() {
  if (take_pending_signal(options_.signal_fd)) signalled_ = true;
  end(EndReason::kInterrupted);
}

void TraceRunner::watch_target() {
  if (!process_.has_exited()) return;
  target_ended_ = true;
  end(EndReason::kTargetEnded);
}

void TraceRunner::take_frames() {
  auto received = channel_.receive();
  take_deferred(&TraceRunner::take_frame);
  if (!received) return end(EndReason::kAgentGone, std::move(received).error());
  if (!channel_.hung_up() || detached_) return;
  // Its end closes the socket before the process is seen as ended.
  pollfd exit{process_.pidfd(), POLLIN, 0};
  const AgentState state = reader_.agent_state();
  const int limit = state == AgentState::kVmDead ? 10'000 : static_cast<int>(kHangUpLimit / 1'000'000);
  if (process_.pidfd() >= 0) ::poll(&exit, 1, limit);
  target_ended_ = process_.has_exited() || state == AgentState::kVmDead;
  if (target_ended_) return end(EndReason::kTargetEnded);
  end(EndReason::kAgentGone, Error{.category = ErrorCategory::kAgent, .text = "the agent hung up, the JVM runs on"});
}

void TraceRunner::take_frame(const Frame& frame) {
  if (frame.type == FrameType::kCounts) counts_.add(frame.payload);
  if (frame.type == FrameType::kAnswer) take_answer(frame);
  if (frame.type == FrameType::kDetached) detached_ = true;
}

// What has come, in its order.
void TraceRunner::take_deferred(void (TraceRunner::*take)(const Frame&)) {
  while (auto frame = channel_.next()) deferred_.push_back(std::move(*frame));
  while (!deferred_.empty()) {
    const Frame frame = std::move(deferred_.front());
    deferred_.pop_front();
    (this->*take)(frame);
  }
}

// In the middle of a pass, at the end of a document that is not the trace's: asks and waits. What else the agent says
// meanwhile is for later. One that leaves was asked for its last counts: those it is.
Result<MethodCounts> TraceRunner::count_now() {
  if (last_counts_) return *last_counts_;
  if (!leaving_) {
    JTRACE_RETURN_IF_ERROR(channel_.send(FrameType::kCount));
    asked_.push_back({kNobody, kForAFile});
  }
  if (asked_.empty() || asked_.back().verb != kForAFile) return fail(ErrorCategory::kAgent, "the agent has left");
  const auto is_answer = [](const Frame& frame) { return frame.type == FrameType::kAnswer; };
  const auto answered = std::count_if(deferred_.begin(), deferred_.end(), is_answer);
  std::size_t ahead = asked_.size() - 1 - static_cast<std::size_t>(answered);  // answers that come first
  MethodCounts counts;
  const std::uint64_t limit = monotonic_ns() + kCountLimit;
  while (monotonic_ns() < limit) {
    while (auto frame = channel_.next()) {
      if (ahead == 0 && frame->type == FrameType::kCounts) {
        counts.add(frame->payload);
      } else if (ahead == 0 && is_answer(*frame)) {
        asked_.pop_back();
        counts.coverage = decode_answer(frame->payload).value_or(Answer{}).coverage;
        if (leaving_) last_counts_ = counts;
        return counts;
      } else {
        if (is_answer(*frame)) --ahead;
        deferred_.push_back(std::move(*frame));
      }
    }
    if (channel_.hung_up()) return fail(ErrorCategory::kAgent, "the agent hung up");
    pollfd source{channel_.fd(), POLLIN, 0};
    if (::poll(&source, 1, 100) > 0) (void)channel_.receive();  // whose error is a hang-up
  }
  return fail(ErrorCategory::kTimeout, "the agent did not answer in time");
}

// While the agent leaves: who asked for something else is answered by the trace's end.
void TraceRunner::take_last_frame(const Frame& frame) {
  if (frame.type == FrameType::kDetached) detached_ = true;
  if (frame.type == FrameType::kCounts) counts_.add(frame.payload);
  if (frame.type != FrameType::kAnswer || asked_.empty()) return;
  MethodCounts counts = std::exchange(counts_, {});
  counts.coverage = decode_answer(frame.payload).value_or(Answer{}).coverage;
  if (asked_.size() == 1 && asked_.front().verb == kForAFile && !counts.coverage.empty())
    last_counts_ = std::move(counts);
  asked_.pop_front();
}

// A JVM that ends writes its counts itself.
std::string TraceRunner::why_uncounted() const {
  if (!counts_methods(drain_.options()) || drain_.is_counted_out()) return "";
  if (error_) return "the output failed";
  const bool counted = last_counts_ || reader_.agent_state() == AgentState::kVmDead;
  return counted ? "" : target_ended_ ? "the JVM was killed" : "the agent did not answer";
}

// Has the agent leave, and drains meanwhile: a JVM that fills its rings must not wait for us.
void TraceRunner::detach_agent() {
  if (target_ended_ || channel_.hung_up()) return;
  const bool counts = counts_methods(drain_.options()) && !drain_.is_counted_out();
  if (counts && channel_.send(FrameType::kCount)) asked_.push_back({kNobody, kForAFile});
  if (!channel_.send(FrameType::kDetach)) return;
  leaving_ = true;
  const std::uint64_t limit = monotonic_ns() + kDetachLimit;
  signalled_ = false;
  while (!detached_ && !channel_.hung_up() && !signalled_ && monotonic_ns() < limit) {
    if (!error_)
      if (auto pass = drain_.pass(TraceDrain::Mode::kLive); !pass) output_failed(std::move(pass).error());
    take_deferred(&TraceRunner::take_last_frame);
    pollfd descriptors[] = {{channel_.fd(), POLLIN, 0}, {options_.signal_fd, POLLIN, 0}};
    if (::poll(descriptors, 2, 10) <= 0) continue;
    if (descriptors[0].revents != 0) {
      const auto received = channel_.receive();
      take_deferred(&TraceRunner::take_last_frame);
      if (!received) break;
    }
    if (descriptors[1].revents != 0) take_signal();
  }
  channel_.close();
}

void TraceRunner::take_ctl_requests() {
  for (ControlSource* each : options_.controls)
    for (const CtlRequest& request : each->receive()) serve(request);
}

void TraceRunner::answer(int client, ExitStatus status, std::string_view text) {
  for (ControlSource* each : options_.controls) each->answer(client, status, text);
}

void TraceRunner::serve(const CtlRequest& request) {
  const std::string verb = request.words.empty() ? "" : request.words[0];
  if (verb == "status") return ask_agent(request, FrameType::kQuery);
  if (verb == "pause") return ask_agent(request, FrameType::kPause);
  if (verb == "stop") {
    if (!drain_.in_trace()) return answer(request.client, ExitStatus::kRefused, "the trace is stopped already\n");
    // The document ends, and has its counts.
    if (counts_methods(drain_.options())) ask_agent({kNobody, {"count"}}, FrameType::kCount);
    return ask_agent(request, FrameType::kPause);
  }
  if (verb == "resume") {
    if (drain_.in_trace()) return ask_agent(request, FrameType::kResume);
    return answer(request.client, ExitStatus::kRefused, "the trace is stopped: start begins the next one\n");
  }
  if (verb == "start") return serve_start(request);
  if (verb == "filters") return serve_filters(request);
  if (verb == "flush") {
    drain();
    return answer(request.client, ExitStatus::kOk, "bytes=" + std::to_string(output_.bytes()) + "\n");
  }
  if (verb == "count") return serve_count(request);
  if (verb == "detach") {
    waiting_for_end_.push_back(request.client);
    return end(EndReason::kDetached);
  }
  answer(request.client, ExitStatus::kUsage, "unknown request '" + verb + "'\n");
}

void TraceRunner::ask_agent(const CtlRequest& request, FrameType type, std::string_view payload) {
  if (auto sent = channel_.send(type, payload); !sent)
    return answer(request.client, exit_status(sent.error()), sent.error().message() + "\n");
  asked_.push_back({request.client, request.words[0]});
}

void TraceRunner::serve_count(const CtlRequest& request) {
  if (!counts_methods(drain_.options()))
    return answer(request.client, ExitStatus::kRefused, "this trace does not count calls: --events counts does\n");
  if (!drain_.in_trace())
    return answer(request.client, ExitStatus::kRefused,
                  "the trace is stopped: there is nothing to write counts into\n");
  ask_agent(request, FrameType::kCount);
}

void TraceRunner::serve_start(const CtlRequest& request) {
  if (drain_.in_trace()) return answer(request.client, ExitStatus::kRefused, "a trace runs already\n");
  if (auto begun = drain_.begin_next_trace(); !begun) {
    answer(request.client, exit_status(begun.error()), begun.error().message() + "\n");
    if (begun.error().category != ErrorCategory::kRefused) output_failed(std::move(begun).error());
    return;
  }
  ask_agent(request, FrameType::kResume);
}

void TraceRunner::serve_filters(const CtlRequest& request) {
  std::vector<FilterRule> rules;
  for (std::size_t i = 1; i < request.words.size(); ++i) {
    auto rule = parse_filter_rule(request.words[i]);
    if (!rule) return answer(request.client, ExitStatus::kUsage, rule.error().message() + "\n");
    rules.push_back(std::move(*rule));
  }
  if (auto fits = check_size(rules); !fits)
    return answer(request.client, ExitStatus::kUsage, fits.error().message() + "\n");
  ask_agent(request, FrameType::kFilters, encode_filter_rules(rules));
  if (drain_.in_trace())
    if (auto said = drain_.say_filters(std::move(rules)); !said) output_failed(std::move(said).error());
}

void TraceRunner::take_answer(const Frame& frame) {
  if (asked_.empty()) return;
  const Asked asked = asked_.front();
  asked_.pop_front();
  const auto decoded = decode_answer(frame.payload);
  MethodCounts counts = std::exchange(counts_, {});
  const std::string refusal = decoded ? refusal_in(*decoded) : decoded.error().message();
  if (!refusal.empty()) return answer(asked.client, ExitStatus::kAgent, refusal + "\n");
  const bool was_paused = paused_;
  if (asked.verb == "pause" || asked.verb == "stop") paused_ = true;
  if (asked.verb == "resume" || asked.verb == "start") paused_ = false;
  if (asked.verb == "stop") stop_trace();
  if ((asked.verb == "pause" || asked.verb == "resume") && was_paused != paused_) drain();
  if ((asked.verb == "pause" || asked.verb == "resume") && was_paused != paused_ && !reason_)
    if (auto said = drain_.say_paused(paused_); !said) output_failed(std::move(said).error());
  if (asked.verb == "count") take_counts(std::move(counts), decoded->coverage);
  std::string reply;
  if (asked.verb == "status") reply = status_text() + agent_lines(*decoded);
  if (asked.verb == "count") reply = "methods=" + std::to_string(decoded->counted) + "\n";
  answer(asked.client, ExitStatus::kOk, reply);
}

// Behind all that was said until then: the methods' definitions too.
void TraceRunner::take_counts(MethodCounts counts, std::string_view coverage) {
  if (!reason_) drain();
  if (reason_ || !drain_.in_trace()) return;
  counts.coverage = coverage;
  if (auto said = drain_.say_counts(counts); !said) output_failed(std::move(said).error());
}

void TraceRunner::stop_trace() {
  if (auto ended = drain_.end_trace(TraceDrain::Mode::kLive); !ended) output_failed(std::move(ended).error());
}

std::string TraceRunner::status_text() const {
  const Progress now = progress();
  return "state=" +
         std::string(!drain_.in_trace() ? "stopped"
                     : paused_          ? "paused"
                                        : "tracing") +
         "\npid=" + std::to_string(process_.pid()) + "\njtrace=" + std::to_string(::getpid()) +
         "\nfile=" + output_.path() + "\nseconds=" + std::to_string(now.elapsed / kNanosPerSecond) +
         "\nevents=" + std::to_string(now.events) + "\nbytes=" + std::to_string(now.bytes) +
         "\nlost=" + std::to_string(now.dropped) + "\n";
}

Progress TraceRunner::progress() const {
  return {monotonic_ns() - start_, drain_.events(), output_.bytes(), reader_.counts().dropped_events};
}

TraceSummary TraceRunner::summary() {
  TraceSummary made;
  made.reason = *reason_;
  made.error = error_;
  made.events = drain_.events();
  made.bytes = output_.bytes();
  made.dropped = reader_.counts().dropped_events;
  made.malformed = drain_.malformed() + (pool_.was_cut() ? 1 : 0);
  made.made_up_definitions = drain_.made_up_definitions();
  made.elapsed = monotonic_ns() - start_;
  made.documents = drain_.documents();
  made.agent_left = detached_ || target_ended_;
  made.target_killed = target_ended_ && reader_.agent_state() != AgentState::kVmDead;
  if (made.target_killed) made.death = death_.tell(reader_.agent_work());
  made.uncounted = why_uncounted();
  return made;
}

}  // namespace jtrace::session
