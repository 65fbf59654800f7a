#include "fleet/definitions.h"

#include <algorithm>
#include <utility>

#include "trace/byte_sink.h"
#include "trace/io/scopes.h"
#include "trace/xml_writer.h"

namespace jtrace::fleet {
namespace {

using trace::ElementKind;
using trace::Event;

constexpr std::size_t kObjectSize = 100;  // bytes of an objDef, about

IdKind kind_of(trace::ThreadId) { return IdKind::kThread; }
IdKind kind_of(trace::ClassId) { return IdKind::kClass; }
IdKind kind_of(trace::MethodId) { return IdKind::kMethod; }
IdKind kind_of(trace::ObjectId) { return IdKind::kObject; }

template <class Id>
bool set(Id id, std::uint32_t agent, IdRef& out) {
  if (!trace::io::is_renumbered(id)) return false;
  out = {agent, kind_of(id), id.value()};
  return true;
}

// One element as a line.
std::string line_of(const Event& event) {
  trace::MemorySink bytes(512);
  trace::XmlWriter writer(bytes, {.form = trace::XmlForm::kFragments});
  (void)writer.write(event);  // memory: it cannot fail; what lacks a required attribute was refused by the reader
  (void)writer.finish();
  return bytes.text();
}

}  // namespace

std::uint32_t AgentOfEvent::of(const Event& event) {
  if (const auto* start = std::get_if<trace::TraceStart>(&event)) {
    const auto next = static_cast<std::uint32_t>(agents_.size());
    current_ = agents_.emplace(std::string(start->agentIdRef.view()), next).first->second;
    traces_[std::string(start->traceId.view())] = current_;
    last_trace_.clear();
    return current_;
  }
  const trace::Text id = trace::io::common_of(event).trace_id;
  if (!id.present()) return current_;
  if (id.view() != last_trace_) {
    const auto found = traces_.find(id.view());
    last_trace_ = id.view();
    last_ = found == traces_.end() ? current_ : found->second;
  }
  return last_;
}

const std::vector<IdRef>& IdsOfEvent::references(const Event& event, std::uint32_t agent) {
  found_.clear();
  Event copy = event;
  visitor_.visit(copy, [&](const auto& id) { found_.push_back({agent, kind_of(id), id.value()}); });
  return found_;
}

bool IdsOfEvent::defined(const Event& event, std::uint32_t agent, IdRef& out) {
  switch (trace::element_kind(event)) {
    case ElementKind::kThreadStart: return set(std::get<trace::ThreadStart>(event).threadId, agent, out);
    case ElementKind::kClassDef: return set(std::get<trace::ClassDef>(event).classId, agent, out);
    case ElementKind::kMethodDef: return set(std::get<trace::MethodDef>(event).methodId, agent, out);
    case ElementKind::kObjDef: return set(std::get<trace::ObjDef>(event).objId, agent, out);
    case ElementKind::kObjAlloc: return set(std::get<trace::ObjAlloc>(event).objId, agent, out);
    default: return false;
  }
}

bool IdsOfEvent::ended(const Event& event, std::uint32_t agent, IdRef& out) {
  switch (trace::element_kind(event)) {
    case ElementKind::kThreadEnd: return set(std::get<trace::ThreadEnd>(event).threadIdRef, agent, out);
    case ElementKind::kClassUnload: return set(std::get<trace::ClassUnload>(event).classIdRef, agent, out);
    case ElementKind::kObjFree: return set(std::get<trace::ObjFree>(event).objIdRef, agent, out);
    default: return false;
  }
}

Definitions::Table& Definitions::table(const IdRef& ref) {
  if (ref.agent >= tables_.size()) tables_.resize(ref.agent + std::size_t{1});
  return tables_[ref.agent][static_cast<std::size_t>(ref.kind)];
}

Definitions::Definition* Definitions::find(const IdRef& ref) {
  Table& ids = table(ref);
  const auto found = ids.find(ref.id);
  return found == ids.end() ? nullptr : &found->second;
}

// Marks what the definition itself refers to as well. Not recursive: an input may have long chains.
void Definitions::need(const IdRef& first) {
  std::vector<IdRef> open{first};
  while (!open.empty()) {
    const IdRef ref = open.back();
    open.pop_back();
    Definition* definition = find(ref);
    if (definition == nullptr || definition->segment == segment_) continue;
    definition->segment = segment_;
    needed_.push_back(ref);
    needed_size_ += definition->xml.empty() ? kObjectSize : definition->xml.size();
    open.insert(open.end(), definition->refers.begin(), definition->refers.end());
  }
}

void Definitions::define(const Event& event, const IdRef& ref) {
  Definition& definition = table(ref)[ref.id];
  definition = {};
  definition.order = order_;
  definition.segment = segment_;
  for (const IdRef& other : ids_.references(event, ref.agent))
    if (other != ref) definition.refers.push_back(other);
  const auto keep_object = [&](const auto& object) {
    definition.is_array = object.isArray;
    definition.size = object.size;
    if (object.classIdRef.present()) definition.class_id = object.classIdRef.value();
    definition.refers.clear();
    if (object.classIdRef.present()) definition.refers.push_back({ref.agent, IdKind::kClass, definition.class_id});
  };
  if (const auto* object = std::get_if<trace::ObjDef>(&event)) keep_object(*object);
  else if (const auto* allocated = std::get_if<trace::ObjAlloc>(&event)) keep_object(*allocated);
  else definition.xml = line_of(event);
  if (ref.kind != IdKind::kObject) return;
  objects_.push_back(ref);
  if (objects_.size() <= kMaxObjects) return;
  table(objects_.front()).erase(objects_.front().id);
  objects_.pop_front();
}

// Node, process, agent, traceStart, and what follows until the first other element.
void Definitions::note_head(const Event& event) {
  switch (trace::element_kind(event)) {
    case ElementKind::kTraceStart: head_trace_ = std::get<trace::TraceStart>(event).traceId.view(); [[fallthrough]];
    case ElementKind::kNode:
    case ElementKind::kProcessCreate:
    case ElementKind::kAgentCreate: in_head_ = true; break;
    case ElementKind::kOption:
    case ElementKind::kFilter:
      if (!in_head_) return;
      break;
    case ElementKind::kTraceEnd: {
      in_head_ = false;
      const std::string ended(std::get<trace::TraceEnd>(event).traceIdRef.view());
      if (ended == head_trace_) return;  // the last one stays: elements may follow
      std::erase_if(heads_, [&](const Head& head) { return head.trace == ended; });
      return;
    }
    default: in_head_ = false; return;
  }
  const bool of_trace = std::holds_alternative<trace::TraceStart>(event) ||
                        std::holds_alternative<trace::Option>(event) || std::holds_alternative<trace::Filter>(event);
  heads_.push_back({order_, of_trace ? head_trace_ : std::string(), line_of(event)});
}

void Definitions::note(const Event& event) {
  ++order_;
  const std::uint32_t agent = agents_.of(event);
  note_head(event);
  IdRef ref;
  for (const IdRef& other : ids_.references(event, agent))
    if (!IdsOfEvent::defined(event, agent, ref) || other != ref) need(other);
  if (IdsOfEvent::defined(event, agent, ref)) define(event, ref);
  if (IdsOfEvent::ended(event, agent, ref)) ended_.push_back(ref);
}

void Definitions::forget_ended() {
  for (const IdRef& ref : ended_) {
    table(ref).erase(ref.id);
    if (ref.kind != IdKind::kClass) continue;
    Table& methods = table({ref.agent, IdKind::kMethod, 0});
    std::erase_if(methods, [&](const auto& each) {
      const auto& refers = each.second.refers;
      return std::find(refers.begin(), refers.end(), ref) != refers.end();
    });
  }
  ended_.clear();
}

void Definitions::begin_segment() {
  forget_ended();
  ++segment_;
  needs_head_ = true;
  begun_ = order_;
}

// Without the allocation's collationValue: it is another element.
std::string Definitions::object_line(const IdRef& ref, const Definition& definition) {
  trace::ObjDef object{.objId = trace::ObjectId(ref.id), .isArray = definition.is_array, .size = definition.size};
  if (definition.class_id != UINT64_MAX) object.classIdRef = trace::ClassId(definition.class_id);
  return line_of(object);
}

Definitions::Restated Definitions::restate() {
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  for (const Head& head : heads_)
    if (needs_head_ && head.order <= begun_) lines.emplace_back(head.order, head.xml);
  for (const IdRef& ref : needed_) {
    const Definition* definition = find(ref);
    if (definition == nullptr) continue;
    lines.emplace_back(definition->order, definition->xml.empty() ? object_line(ref, *definition) : definition->xml);
  }
  std::sort(lines.begin(), lines.end());
  Restated restated{{}, static_cast<std::uint32_t>(lines.size())};
  for (const auto& [order, line] : lines) restated.xml += line;
  needs_head_ = false;
  needed_.clear();
  needed_size_ = 0;
  return restated;
}

}  // namespace jtrace::fleet
