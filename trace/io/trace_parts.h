// The parts of one trace: the documents into which `--rotate` cuts it. Each can be read alone: it says its node,
// process, agent, options and filters again, has a traceStart and a traceId of its own, counts its collationValues from
// 1, defines again what its events refer to, and names the part before (option jtrace.continues). Here they become the
// one trace again that they are: the first part's traceStart and traceId, the last part's ends and methodCounts (which
// count from the beginning), definitions once, collationValues that go on. A part that is missing in the middle leaves
// its option jtrace.continues as the mark of a gap.
//
// Traces of one agent that follow one another (jtrace ctl stop, start) stay traces of their own. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/event.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

// What the head of a document says.
struct TracePart {
  std::string name;  // of the input, for messages and for opening it
  std::string agent, trace;
  std::string continues;  // the traceId of the part before; "" in a first one
  std::uint64_t start = 0;
};
// Reads no further than the head. What begins without one has no trace and no agent.
Result<TracePart> read_part_head(EventSource& source, const std::string& name);

// The traces of one agent, in order of time.
struct AgentParts {
  std::vector<std::vector<TracePart>> traces;  // each in the order of its parts
  std::vector<std::string> missing;            // what is not there between parts, a sentence each
  bool is_rotated() const;                     // one of its traces has several parts, or begins with a later one
};
// By agent, in the order of their first inputs; what has no head is alone. kUsage: a part of a rotated trace that is
// given twice. `overlaps`: documents of one trace that is not rotated may overlap (merge sorts that out), else they are
// given twice too.
Result<std::vector<AgentParts>> order_parts(std::vector<TracePart> parts, bool overlaps);

class PartsSource final : public EventSource {
 public:
  using Open = std::function<Result<std::unique_ptr<EventSource>>(const std::string& name)>;
  // `on_part`: called with the name of each part before it is read.
  PartsSource(AgentParts parts, Open open, std::function<void(const std::string&)> on_part = {})
      : parts_(std::move(parts)), open_(std::move(open)), on_part_(std::move(on_part)) {}
  Result<ReadSummary> read(EventSink& sink) override;
  Position position() const override { return current_ ? current_->position() : Position(); }

 private:
  AgentParts parts_;
  Open open_;
  std::function<void(const std::string&)> on_part_;
  std::unique_ptr<EventSource> current_;
};

}  // namespace jtrace::trace::io
