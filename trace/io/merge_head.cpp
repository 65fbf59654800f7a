#include "trace/io/merge_head.h"

#include <algorithm>
#include <set>

#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

// All but the time: each document of an agent (jtrace ctl stop, start) has its own.
bool same(const AgentCreate& a, const AgentCreate& b) {
  bool equal = true;
  const auto compare = [&](const AttributeInfo& info, const auto& x, const auto& y) {
    equal = equal && (info.name == "time" || x == y);
  };
  for_each_attribute_of(a, b, compare);
  return equal;
}

template <class Table>
auto find(Table& table, Text id, auto member) -> decltype(&table.front()) {
  for (auto& each : table)
    if ((each.element.*member).view() == id.view()) return &each;
  return nullptr;
}

}  // namespace

template <class Element>
Element MergeHead::keep(const Element& element) {
  (void)texts_.write(element);  // memory: it cannot fail
  return std::get<Element>(texts_.events().back());
}

template <class Element>
void MergeHead::define(Table<Element>& table, const Element& element, Text id, Text Element::*member,
                       const std::string& input) {
  const Element kept = keep(element);
  auto* known = find(table, id, member);
  if (known == nullptr) {
    table.push_back({kept, input});
    return;
  }
  const auto fill = [&](const AttributeInfo& info, auto& mine, const auto& other) {
    if (!is_present(mine)) mine = other;
    else if (is_present(other) && !(mine == other))
      differences_.push_back(std::string(info.name) + " of " + std::string(Schema<Element>::name) + " " +
                             std::string(id.view()) + " in " + input + " is not that of " + known->input);
  };
  for_each_attribute_of(known->element, kept, fill);
}

Result<bool> MergeHead::take(const Event& event, const std::string& input) {
  if (const auto* node = std::get_if<Node>(&event)) {
    define(nodes_, *node, node->nodeId, &Node::nodeId, input);
    return true;
  }
  if (const auto* process = std::get_if<ProcessCreate>(&event)) {
    define(processes_, *process, process->processId, &ProcessCreate::processId, input);
    return true;
  }
  if (const auto* agent = std::get_if<AgentCreate>(&event)) {
    auto* known = find(agents_, agent->agentId, &AgentCreate::agentId);
    if (known != nullptr && agent->time.value_or(0) < known->element.time.value_or(0) && same(known->element, *agent))
      known->element.time = agent->time;
    if (known == nullptr) {
      agents_.push_back({keep(*agent), input});
    } else if (!same(known->element, *agent)) {
      return fail(ErrorCategory::kMalformed, input + ": the agent " + std::string(agent->agentId.view()) +
                                                 " is defined in another way than in " + known->input);
    }
    return true;
  }
  if (const auto* end = std::get_if<AgentDestroy>(&event)) {
    const auto [known, fresh] = ends_.emplace(std::string(end->agentIdRef.view()), *end);
    if (fresh || end->time.value_or(0) > known->second.time.value_or(0)) known->second = keep(*end);
    return true;
  }
  return false;
}

void MergeHead::note_vm(std::string_view agent, std::string_view vm) {
  // The pid alone does not distinguish JVMs.
  if (vm.find("createVmBeginTime=") != std::string_view::npos) vm_of_agent_.emplace(agent, vm);
}

std::string MergeHead::node_of(std::string_view agent) const {
  const auto* of_agent = find(agents_, agent, &AgentCreate::agentId);
  const auto* process =
      of_agent == nullptr ? nullptr : find(processes_, of_agent->element.processIdRef, &ProcessCreate::processId);
  return process == nullptr ? "" : std::string(node(process->element.nodeIdRef).view());
}

void MergeHead::join() {
  struct Side {
    const ProcessCreate* process;
    bool has_host;
  };
  std::map<std::string, std::vector<Side>> by_vm;
  for (const auto& [agent, vm] : vm_of_agent_) {
    const auto* created = find(agents_, agent, &AgentCreate::agentId);
    const auto* process =
        created == nullptr ? nullptr : find(processes_, created->element.processIdRef, &ProcessCreate::processId);
    if (process == nullptr) continue;
    const auto* node = find(nodes_, process->element.nodeIdRef, &Node::nodeId);
    by_vm[vm].push_back({&process->element, node != nullptr && !node->element.hostname.view().empty()});
  }
  for (const auto& [vm, sides] : by_vm) {
    const auto live = std::find_if(sides.begin(), sides.end(), [](const Side& side) { return side.has_host; });
    if (live == sides.end()) continue;
    for (const Side& side : sides) {
      if (side.has_host || side.process->processId == live->process->processId) continue;
      processes_alias_.emplace(side.process->processId.view(), live->process->processId.view());
      nodes_alias_.emplace(side.process->nodeIdRef.view(), live->process->nodeIdRef.view());
    }
  }
  // A node that has other processes stays.
  for (const auto& process : processes_)
    if (processes_alias_.count(process.element.processId.view()) == 0)
      nodes_alias_.erase(std::string(process.element.nodeIdRef.view()));
}

Text MergeHead::alias(const Ids& ids, Text id) {
  if (!id.present() || ids.empty()) return id;
  const auto found = ids.find(id.view());
  return found == ids.end() ? id : Text(found->second);
}

Result<> MergeHead::write(EventSink& sink) const {
  for (const auto& node : nodes_)
    if (nodes_alias_.count(node.element.nodeId.view()) == 0) JTRACE_RETURN_IF_ERROR(sink.write(node.element));
  for (const auto& process : processes_)
    if (processes_alias_.count(process.element.processId.view()) == 0)
      JTRACE_RETURN_IF_ERROR(sink.write(process.element));
  for (const auto& agent : agents_) {
    AgentCreate element = agent.element;
    element.processIdRef = process(element.processIdRef);
    JTRACE_RETURN_IF_ERROR(sink.write(element));
  }
  return {};
}

Result<> MergeHead::write_end(EventSink& sink, std::string_view agent) {
  const auto end = ends_.find(agent);
  if (end == ends_.end()) return {};
  const AgentDestroy element = end->second;
  ends_.erase(end);
  return sink.write(element);
}

Result<> MergeHead::write_other_ends(EventSink& sink) {
  for (const auto& [agent, end] : ends_) JTRACE_RETURN_IF_ERROR(sink.write(end));
  ends_.clear();
  return {};
}

}  // namespace jtrace::trace::io
