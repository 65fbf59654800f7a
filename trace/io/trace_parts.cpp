#include "trace/io/trace_parts.h"

#include <algorithm>

#include "trace/io/part_joiner.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

// Takes the head, and then ends the reading with an error of its own.
class HeadSink final : public EventSink {
 public:
  explicit HeadSink(TracePart& part) : part_(part) {}
  bool is_done() const { return done_; }
  Result<> write(const Event& event) override {
    switch (element_kind(event)) {
      case ElementKind::kNode:
      case ElementKind::kProcessCreate:
      case ElementKind::kAgentCreate:
      case ElementKind::kFilter: return {};
      case ElementKind::kTraceStart: {
        const TraceStart& start = std::get<TraceStart>(event);
        if (!part_.trace.empty()) break;
        part_.trace = start.traceId.view();
        part_.agent = start.agentIdRef.view();
        part_.start = start.time.value_or(0);
        return {};
      }
      case ElementKind::kOption: {
        const Option& option = std::get<Option>(event);
        if (option.key.view() == kContinuesKey) part_.continues = option.value.view();
        return {};
      }
      default: break;
    }
    done_ = true;
    return fail(ErrorCategory::kRefused, "the head has been read");
  }

 private:
  TracePart& part_;
  bool done_ = false;
};

tl::unexpected<Error> given_twice(const TracePart& a, const TracePart& b) {
  return fail(ErrorCategory::kUsage,
              a.name + " and " + b.name + " are the same part of a trace (traceId " + a.trace + "): give it once");
}

Result<> refuse_twice(const AgentParts& agent, bool overlaps) {
  if (overlaps && !agent.is_rotated()) return {};
  for (const auto& trace : agent.traces)
    for (std::size_t i = 1; i < trace.size(); ++i)
      if (trace[i].trace == trace[i - 1].trace) return given_twice(trace[i - 1], trace[i]);
  return {};
}

// The parts of one agent. A part without a predecessor begins a trace.
AgentParts of_agent(std::vector<TracePart> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const TracePart& a, const TracePart& b) { return a.start < b.start; });
  AgentParts agent;
  for (TracePart& part : parts) {
    const TracePart* before = agent.traces.empty() ? nullptr : &agent.traces.back().back();
    const bool same = before != nullptr && before->trace == part.trace;
    if (before != nullptr && !same && !part.continues.empty() && part.continues != before->trace)
      agent.missing.push_back("between " + before->name + " and " + part.name + " a part of the trace is missing: " +
                              part.name + " continues " + part.continues + ", which no input has");
    if (before == nullptr || (part.continues.empty() && !same)) agent.traces.emplace_back();
    agent.traces.back().push_back(std::move(part));
  }
  return agent;
}

}  // namespace

Result<TracePart> read_part_head(EventSource& source, const std::string& name) {
  TracePart part{.name = name, .agent = {}, .trace = {}, .continues = {}};
  HeadSink head(part);
  const auto read = source.read(head);
  if (!read && !head.is_done()) return fail(read.error());
  return part;
}

bool AgentParts::is_rotated() const {
  return std::any_of(traces.begin(), traces.end(), [](const std::vector<TracePart>& trace) {
    return std::any_of(trace.begin(), trace.end(), [](const TracePart& part) { return !part.continues.empty(); });
  });
}

Result<std::vector<AgentParts>> order_parts(std::vector<TracePart> parts, bool overlaps) {
  std::vector<std::vector<TracePart>> by_agent;
  for (TracePart& part : parts) {
    const auto known = std::find_if(by_agent.begin(), by_agent.end(), [&](const std::vector<TracePart>& each) {
      return !part.agent.empty() && each.front().agent == part.agent;
    });
    if (known == by_agent.end()) by_agent.push_back({std::move(part)});
    else known->push_back(std::move(part));
  }
  std::vector<AgentParts> agents;
  for (auto& each : by_agent) {
    agents.push_back(of_agent(std::move(each)));
    JTRACE_RETURN_IF_ERROR(refuse_twice(agents.back(), overlaps));
  }
  return agents;
}

namespace {

// Only the head of each is read.
Result<std::vector<TracePart>> heads_of(const std::vector<std::string>& names, const OpenPart& open) {
  std::vector<TracePart> heads;
  for (const std::string& name : names) {
    if (name == "-") {
      heads.push_back({.name = name, .agent = {}, .trace = {}, .continues = {}});
      continue;
    }
    JTRACE_ASSIGN_OR_RETURN(const auto source, open(name));
    JTRACE_ASSIGN_OR_RETURN(auto head, read_part_head(*source, name));
    heads.push_back(std::move(head));
  }
  return heads;
}

tl::unexpected<Error> not_one_trace(const std::vector<AgentParts>& agents) {
  const auto name = [](const AgentParts& agent) { return agent.traces.front().front().name; };
  return fail(ErrorCategory::kUsage, name(agents[0]) + " and " + name(agents[1]) + " are not parts of one trace",
              "jtrace merge makes one document of several traces");
}

}  // namespace

Result<AgentParts> read_one_agent(const std::vector<std::string>& names, const OpenPart& open) {
  JTRACE_ASSIGN_OR_RETURN(auto heads, heads_of(names, open));
  JTRACE_ASSIGN_OR_RETURN(auto agents, order_parts(std::move(heads), false));
  if (agents.size() != 1) return not_one_trace(agents);
  return std::move(agents.front());
}

Result<std::vector<std::vector<std::string>>> group_parts(const std::vector<std::string>& names, const OpenPart& open) {
  JTRACE_ASSIGN_OR_RETURN(auto heads, heads_of(names, open));
  JTRACE_ASSIGN_OR_RETURN(const auto agents, order_parts(std::move(heads), true));
  std::vector<std::vector<std::string>> groups;
  for (const AgentParts& agent : agents) {
    if (agent.is_rotated()) groups.emplace_back();
    for (const auto& trace : agent.traces)
      for (const TracePart& part : trace) {
        if (!agent.is_rotated()) groups.emplace_back();
        groups.back().push_back(part.name);
      }
  }
  return groups;
}

Result<ReadSummary> PartsSource::read(EventSink& sink) {
  PartJoiner joiner(sink);
  ReadSummary all;
  for (std::size_t t = 0; t < parts_.traces.size(); ++t) {
    const std::vector<TracePart>& trace = parts_.traces[t];
    for (std::size_t i = 0; i < trace.size(); ++i) {
      JTRACE_ASSIGN_OR_RETURN(current_, open_(trace[i].name));
      if (on_part_) on_part_(trace[i].name);
      const bool is_last = i + 1 == trace.size();
      joiner.begin_part(i == 0                                     ? PartJoiner::Follows::kNothing
                        : trace[i].continues == trace[i - 1].trace ? PartJoiner::Follows::kThat
                                                                   : PartJoiner::Follows::kGap,
                        is_last, is_last && t + 1 == parts_.traces.size());
      JTRACE_ASSIGN_OR_RETURN(const ReadSummary part, current_->read(joiner));
      all.truncated = all.truncated || part.truncated;
      all.fragments = all.fragments || part.fragments;
    }
  }
  all.elements = joiner.elements();
  return all;
}

}  // namespace jtrace::trace::io
