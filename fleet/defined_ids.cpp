#include "fleet/defined_ids.h"

namespace jtrace::fleet {
namespace {

using trace::ElementKind;

// The identity of an element of the head; "": it has none.
std::string head_of(const trace::Event& event) {
  switch (trace::element_kind(event)) {
    case ElementKind::kNode: return "n" + std::string(std::get<trace::Node>(event).nodeId.view());
    case ElementKind::kProcessCreate: return "p" + std::string(std::get<trace::ProcessCreate>(event).processId.view());
    case ElementKind::kAgentCreate: return "a" + std::string(std::get<trace::AgentCreate>(event).agentId.view());
    case ElementKind::kTraceStart: return "t" + std::string(std::get<trace::TraceStart>(event).traceId.view());
    default: return {};
  }
}

}  // namespace

void DefinedIds::note(const trace::Event& event) {
  const std::uint32_t agent = agents_.of(event);
  if (std::string head = head_of(event); !head.empty()) heads_.insert(std::move(head));
  IdRef ref;
  if (IdsOfEvent::defined(event, agent, ref)) ids_.insert(ref);
}

bool DefinedIds::is_known_head(const trace::Event& event) {
  std::string head = head_of(event);
  const bool known = !heads_.insert(std::move(head)).second;
  if (std::holds_alternative<trace::TraceStart>(event)) trace_is_known_ = known;
  return known;
}

bool DefinedIds::is_missing(const trace::Event& event) {
  const std::uint32_t agent = agents_.of(event);
  if (!head_of(event).empty()) return !is_known_head(event);
  // Options and filters of a head belong to the traceStart before them.
  if (std::holds_alternative<trace::Option>(event) || std::holds_alternative<trace::Filter>(event))
    return !trace_is_known_;
  IdRef ref;
  return IdsOfEvent::defined(event, agent, ref) && ids_.insert(ref).second;
}

}  // namespace jtrace::fleet
