// DefinedIds: what a document that has a gap, or began late, defines already: of what a batch restates, only the rest
// is written. Memory grows with the definitions. One thread.
#pragma once

#include <set>
#include <string>
#include <unordered_set>

#include "fleet/definitions.h"
#include "trace/event_sink.h"

namespace jtrace::fleet {

class DefinedIds {
 public:
  // Takes note of an element of the document.
  void note(const trace::Event& event);
  // An element that a batch restates: true if the document lacks it (it is noted then).
  bool is_missing(const trace::Event& event);

 private:
  struct Hash {
    std::size_t operator()(const IdRef& ref) const {
      return std::hash<std::uint64_t>()(ref.id * 31 + ref.agent * 7 + static_cast<std::uint64_t>(ref.kind));
    }
  };
  bool is_known_head(const trace::Event& event);

  AgentOfEvent agents_;
  std::unordered_set<IdRef, Hash> ids_;
  std::set<std::string> heads_;  // nodes, processes, agents, traces
  bool trace_is_known_ = false;  // the traceStart that was restated last
};

}  // namespace jtrace::fleet
