#include "session/agent_dialogue.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace jtrace::session {
namespace {

using trace::record::FrameType;

// For the counts at the end of a file; events of the JVM wait in the meantime.
constexpr std::uint64_t kCountLimit = 2 * kNanosPerSecond;

FrameType frame_of(AgentQuestion question) {
  switch (question) {
    case AgentQuestion::kStatus: return FrameType::kQuery;
    case AgentQuestion::kPause:
    case AgentQuestion::kStop: return FrameType::kPause;
    case AgentQuestion::kResume:
    case AgentQuestion::kStart: return FrameType::kResume;
    case AgentQuestion::kFilters: return FrameType::kFilters;
    case AgentQuestion::kCount:
    case AgentQuestion::kCountForDocument: return FrameType::kCount;
  }
  return FrameType::kQuery;
}

bool is_answer(const Frame& frame) { return frame.type == FrameType::kAnswer; }

}  // namespace

Result<> AgentDialogue::ask(AgentQuestion question, Asker asker, std::string_view payload) {
  JTRACE_RETURN_IF_ERROR(channel_.send(frame_of(question), payload));
  asked_.push_back({question, asker});
  return {};
}

std::optional<AgentAnswer> AgentDialogue::next() {
  while (auto frame = channel_.next()) deferred_.push_back(std::move(*frame));
  while (!deferred_.empty()) {
    const Frame frame = std::move(deferred_.front());
    deferred_.pop_front();
    if (auto answer = take(frame)) return answer;
  }
  return std::nullopt;
}

std::optional<AgentAnswer> AgentDialogue::take(const Frame& frame) {
  if (frame.type == FrameType::kCounts) counts_.add_frame(frame.payload);
  if (frame.type == FrameType::kDetached) has_left_ = true;
  if (!is_answer(frame) || asked_.empty()) return std::nullopt;
  AgentAnswer answer{
      .question = asked_.front().question, .asker = asked_.front().asker, .counts = std::exchange(counts_, {})};
  asked_.pop_front();
  auto decoded = decode_answer(frame.payload);
  answer.refusal = decoded ? refusal_in(*decoded) : decoded.error().message();
  if (decoded) answer.decoded = std::move(*decoded);
  note_callouts(answer.decoded);
  answer.counts.coverage = answer.decoded.coverage;
  // A trace that ends has asked for its last counts already.
  const bool is_last = leaving_ && answer.question == AgentQuestion::kCountForDocument && asked_.empty();
  if (is_last && answer.decoded.has_counts != 0) last_counts_ = answer.counts;
  return answer;
}

void AgentDialogue::note_callouts(const Answer& answer) {
  if (answer.has_callouts != 0) methods_with_callouts_ = answer.methods_with_callouts;
}

Result<MethodCounts> AgentDialogue::count_now() {
  if (last_counts_) return *last_counts_;
  if (!leaving_) JTRACE_RETURN_IF_ERROR(ask(AgentQuestion::kCountForDocument));
  if (asked_.empty() || asked_.back().question != AgentQuestion::kCountForDocument)
    return fail(ErrorCategory::kAgent, "the agent has left");
  const auto answered = std::count_if(deferred_.begin(), deferred_.end(), is_answer);
  std::size_t ahead = asked_.size() - 1 - static_cast<std::size_t>(answered);  // answers that arrive first
  MethodCounts counts;
  const std::uint64_t limit = monotonic_ns() + kCountLimit;
  while (monotonic_ns() < limit) {
    while (auto frame = channel_.next()) {
      if (ahead == 0 && frame->type == FrameType::kCounts) {
        counts.add_frame(frame->payload);
      } else if (ahead == 0 && is_answer(*frame)) {
        asked_.pop_back();
        JTRACE_ASSIGN_OR_RETURN(const Answer answer, decode_answer(frame->payload));
        note_callouts(answer);
        if (answer.has_counts == 0) return fail(ErrorCategory::kAgent, refusal_in(answer));
        counts.coverage = answer.coverage;
        if (leaving_) last_counts_ = counts;
        return counts;
      } else {
        if (is_answer(*frame)) --ahead;
        deferred_.push_back(std::move(*frame));
      }
    }
    if (channel_.hung_up()) return fail(ErrorCategory::kAgent, "the agent hung up");
    pollfd source{channel_.fd(), POLLIN, 0};
    if (::poll(&source, 1, 100) > 0) (void)channel_.receive();  // an error is seen as the hang-up
  }
  return fail(ErrorCategory::kTimeout, "the agent did not answer in time");
}

Result<> AgentDialogue::leave(bool with_counts) {
  // Each answer has the figures about the callouts. If this fails, so does what follows.
  (void)ask(with_counts ? AgentQuestion::kCountForDocument : AgentQuestion::kStatus);
  JTRACE_RETURN_IF_ERROR(channel_.send(FrameType::kDetach));
  leaving_ = true;
  return {};
}

}  // namespace jtrace::session
