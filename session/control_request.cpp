#include "session/control_request.h"

#include <array>

#include "base/strings.h"

namespace jtrace::session {
namespace {

struct VerbWord {
  ControlVerb verb;
  std::string_view word;
};
constexpr VerbWord kWords[] = {
    {ControlVerb::kStart, "start"},   {ControlVerb::kStop, "stop"},       {ControlVerb::kPause, "pause"},
    {ControlVerb::kResume, "resume"}, {ControlVerb::kFilters, "filters"}, {ControlVerb::kFlush, "flush"},
    {ControlVerb::kCount, "count"},   {ControlVerb::kStatus, "status"},   {ControlVerb::kDetach, "detach"},
};

std::string_view word_of(TraceState state) {
  switch (state) {
    case TraceState::kTracing: return "tracing";
    case TraceState::kPaused: return "paused";
    case TraceState::kStopped: return "stopped";
  }
  return "";
}

std::string text_of_answer(const DoneAnswer&) { return ""; }
std::string text_of_answer(const StatusAnswer& status) {
  return "state=" + std::string(word_of(status.state)) + "\npid=" + std::to_string(status.pid) +
         "\njtrace=" + std::to_string(status.jtrace) + "\nfile=" + status.file +
         "\nseconds=" + std::to_string(status.seconds) + "\nevents=" + std::to_string(status.events) +
         "\nbytes=" + std::to_string(status.bytes) + "\nlost=" + std::to_string(status.lost) + "\n" + status.agent;
}
std::string text_of_answer(const FlushedAnswer& flushed) { return "bytes=" + std::to_string(flushed.bytes) + "\n"; }
std::string text_of_answer(const CountedAnswer& counted) { return "methods=" + std::to_string(counted.methods) + "\n"; }
std::string text_of_answer(const EndedAnswer& ended) { return ended.summary + "\n"; }
std::string text_of_answer(const RefusedAnswer& refused) {
  return refused.why.ends_with('\n') ? refused.why : refused.why + "\n";
}

}  // namespace

std::span<const ControlVerb> control_verbs() {
  static constexpr auto kVerbs = [] {
    std::array<ControlVerb, std::size(kWords)> verbs{};
    for (std::size_t i = 0; i < verbs.size(); ++i) verbs[i] = kWords[i].verb;
    return verbs;
  }();
  return kVerbs;
}

std::string_view word_of(ControlVerb verb) {
  for (const VerbWord& each : kWords)
    if (each.verb == verb) return each.word;
  return "";
}

std::string to_lines(const ControlRequest& request) {
  std::string lines = std::string(word_of(request.verb)) + "\n";
  for (const FilterRule& rule : request.filters) lines += to_text(rule) + "\n";
  return lines;
}

Result<ControlRequest> parse_control_request(std::string_view lines) {
  std::vector<std::string_view> words;
  for (const std::string_view line : split(lines, '\n'))
    if (!line.empty()) words.push_back(line);
  const std::string_view verb = words.empty() ? std::string_view() : words.front();
  for (const VerbWord& each : kWords) {
    if (each.word != verb) continue;
    ControlRequest request{.verb = each.verb};
    if (each.verb != ControlVerb::kFilters) return request;
    for (std::size_t i = 1; i < words.size(); ++i) {
      JTRACE_ASSIGN_OR_RETURN(FilterRule rule, parse_filter_rule(words[i]));
      request.filters.push_back(std::move(rule));
    }
    JTRACE_RETURN_IF_ERROR(check_size(request.filters));
    return request;
  }
  return fail(ErrorCategory::kUsage, "unknown request '" + std::string(verb) + "'");
}

ExitStatus status_of(const ControlAnswer& answer) {
  if (const auto* ended = std::get_if<EndedAnswer>(&answer)) return ended->status;
  if (const auto* refused = std::get_if<RefusedAnswer>(&answer)) return refused->status;
  return ExitStatus::kOk;
}

std::string text_of(const ControlAnswer& answer) {
  return std::visit([](const auto& each) { return text_of_answer(each); }, answer);
}

RefusedAnswer refusal_of(const Error& error) { return {exit_status(error), error.message()}; }

}  // namespace jtrace::session
