// The parts of one trace: the documents into which `--rotate` splits it. Each can be read alone: it repeats its node,
// process, agent, options and filters, has its own traceStart and traceId, counts collationValues from 1, repeats the
// definitions that its events refer to, and names the previous part (option jtrace.continues). Here the parts become
// one trace again: the traceStart and traceId of the first part, the ends and methodCounts of the last part (they count
// from the beginning), each definition once, collationValues that continue. If a part in the middle is missing, the
// option jtrace.continues after it stays, and marks the gap.
//
// Successive traces of one agent (jtrace ctl stop, start) stay separate traces. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/event.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

// From the head of a document.
struct TracePart {
  std::string name;  // of the input, for messages and for opening it
  std::string agent, trace;
  std::string continues;  // the traceId of the previous part; "" in the first one
  std::uint64_t start = 0;
};
// Reads only the head. An input without a head has no trace and no agent.
Result<TracePart> read_part_head(EventSource& source, const std::string& name);

// The traces of one agent, in order of time.
struct AgentParts {
  std::vector<std::vector<TracePart>> traces;  // each in the order of its parts
  std::vector<std::string> missing;            // the missing parts, a sentence each
  bool is_rotated() const;  // true if one of its traces has several parts, or begins with a later one
};
// By agent, in the order of their first inputs; an input without a head is alone. kUsage: a part of a rotated trace is
// given twice. `overlaps`: documents of a trace that is not rotated may overlap (merge handles that); otherwise they
// count as given twice.
Result<std::vector<AgentParts>> order_parts(std::vector<TracePart> parts, bool overlaps);

using OpenPart = std::function<Result<std::unique_ptr<EventSource>>(const std::string& name)>;
// The order of inputs that must be of one agent, by their heads. "-", which cannot be read twice, is alone. kUsage:
// they are of several.
Result<AgentParts> read_one_agent(const std::vector<std::string>& names, const OpenPart& open);
// The same for any number of agents: the parts of each rotated trace are one item of the result, other inputs are items
// of their own.
Result<std::vector<std::vector<std::string>>> group_parts(const std::vector<std::string>& names, const OpenPart& open);

class PartsSource final : public EventSource {
 public:
  // `on_part`: called with the name of each part before it is read.
  PartsSource(AgentParts parts, OpenPart open, std::function<void(const std::string&)> on_part = {})
      : parts_(std::move(parts)), open_(std::move(open)), on_part_(std::move(on_part)) {}
  Result<ReadSummary> read(EventSink& sink) override;
  Position position() const override { return current_ ? current_->position() : Position(); }

 private:
  AgentParts parts_;
  OpenPart open_;
  std::function<void(const std::string&)> on_part_;
  std::unique_ptr<EventSource> current_;
};

}  // namespace jtrace::trace::io
