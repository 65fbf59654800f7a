#include "trace/io/scopes.h"

#include <algorithm>

#include "base/primitive_types.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "trace/clock_option.h"
#include "trace/methods_with_callouts.h"
#include "trace/option_keys.h"
#include "trace/record/control.h"
#include "trace/record/event_names.h"
#include "trace/record/start_options.h"

namespace jtrace::trace::io {
namespace {

std::string text_of(Text text) { return std::string(text.view()); }

template <class Map>
const typename Map::mapped_type* find(const Map& map, std::uint64_t id) {
  const auto found = map.find(id);
  return found == map.end() ? nullptr : &found->second;
}

// --events: objAlloc are the JVM's samples; those of callouts replace them.
void note_events(Scope& scope, std::string_view words) {
  const std::uint64_t events = record::events_in(words);
  const auto has = [&](std::uint64_t bits) { return (events & bits) != 0; };
  const bool samples = has(record::kObjAllocEvent), exact = has(record::kAllocationEvent);
  scope.asked_events |= events;
  scope.has_blocking_ends |= has(record::kMonContendedEnteredEvent);
  scope.has_wait_ends |= has(record::kMonWaitedEvent);
  scope.has_calls |= has(record::kMethodEvent | record::kMethodCountEvent);
  scope.has_exceptions |= has(record::kThrowEvent | record::kCatchEvent);
  scope.has_events_option = true;
  scope.events_sampled = samples && !exact;
  scope.has_allocations |= samples || exact;
  scope.callouts_record_allocations = exact;
}

void note_short_contentions(Scope& scope, std::string_view text) {
  const auto more = read_short_contentions(text);
  if (!more) return;
  const std::string name = more->class_name.empty() ? std::string() : java_class_name(more->class_name);
  ShortContentions& sum = scope.short_contentions[name];
  sum.count += more->count;
  sum.total += more->total;
}

// The last one counts.
void note_callouts(Scope& scope, std::string_view figures) {
  if (const auto methods = methods_with_callouts(figures)) scope.methods_with_callouts = methods;
}

void note_option(Scope& scope, std::string_view key, std::string_view value) {
  if (key == kKindKey) scope.snapshot |= value == kSnapshotKind;
  else if (key == kVmKey) scope.vm = value;
  else if (key == record::kEventsOption) note_events(scope, value);
  else if (key == kRewrittenKey) note_callouts(scope, value);
  else if (key == kCallsEndKey) scope.calls_end = read_seconds(value).value_or(0);
  else if (key == kPausedKey) scope.pauses += value == "true" ? 1 : 0;
  else if (key == kPauseIntervalKey) scope.gc_interval = parse_decimal<std::uint64_t>(value).value_or(0);
  else if (key == kUnavailableKey) scope.unavailable.emplace_back(value);
  else if (key == kStrictDtdKey) scope.is_strict |= value == "true";
  else if (key == record::kExceptionMessagesOption) scope.has_messages = value == "true";
  else if (key == record::kArgumentsOption) scope.has_arguments |= value == "true";
  else if (key == record::kMonitorOwnerOption) scope.has_owners |= value == "true";
  else if (key == record::kMinContentionOption) scope.min_contention = parse_seconds(value).value_or(0);
  else if (key == kShortContentionsKey) note_short_contentions(scope, value);
  else if (key == record::kSampleIntervalOption) scope.sample_interval = parse_decimal<std::uint64_t>(value);
  else if (key == record::kStackDepthOption) scope.stack_depth = parse_decimal<std::uint64_t>(value).value_or(0);
  else if (key == kJdkKey) scope.jdk = parse_decimal<std::uint64_t>(value).value_or(0);
  else if (key == kGapsKey) scope.gaps_by_thread = value == kGapsByThread;
  else if (key == record::kSlowerThanOption && value != "0") scope.slower_than = value;
  else if (key == record::kLongestFromOption && value != "0") scope.longest_from = value;
}

// An array of primitives has no class.
void note_object(Scope& scope, ObjectId id, ClassId class_id, Number is_array) {
  if (id.present() && (class_id.present() || is_array.present()))
    scope.objects.insert_or_assign(id.value(), ObjectType{class_id, is_array});
}

}  // namespace

std::vector<std::string> Scope::unavailable_of(std::uint64_t events) const {
  std::vector<std::string> lines;
  for (const std::string& line : unavailable)
    if ((record::events_lacking(line) & events) != 0) lines.push_back(line);
  return lines;
}

ShortContentions Scope::all_short_contentions() const {
  ShortContentions all;
  for (const auto& [name, sum] : short_contentions) {
    all.count += sum.count;
    all.total += sum.total;
  }
  return all;
}

std::string Scope::longest_note() const {
  return longest_from.empty() ? "" : ", of shorter ones each that took longer than those before it";
}

std::string Scope::short_contentions_note() const {
  const ShortContentions all = all_short_contentions();
  if (all.count == 0) return {};
  return std::to_string(all.count) + (all.count == 1 ? " contention" : " contentions") + " of less than " +
         duration_text(min_contention) + ", " + seconds_text(all.total) + " s in all, " +
         (all.count == 1 ? "is" : "are") + " only counted";
}

std::string java_class_name(std::string_view internal) {
  std::size_t dimensions = std::min(internal.find_first_not_of('['), internal.size());
  std::string name(internal.substr(dimensions));
  if (dimensions > 0 && name.size() == 1) {
    if (const PrimitiveType* type = primitive_of(name[0])) name = type->name();
  } else if (dimensions > 0 && name.size() > 2 && name.front() == 'L' && name.back() == ';') {
    name = name.substr(1, name.size() - 2);
  }
  std::replace(name.begin(), name.end(), '/', '.');
  while (dimensions-- > 0) name += "[]";
  return name;
}

std::string Scope::late_heap_note() const {
  if (gc_interval == 0) return {};
  return "the heap after a pause was read up to " + std::to_string(gc_interval / 1'000'000) +
         " ms after it: with G1 it has what was allocated since";
}

std::string Scope::pauses_note() const {
  if (pauses == 0) return {};
  return "the trace was paused " + counted(pauses, "time") +
         ": what happened meanwhile is not in it, and calls that were open then have no end";
}

std::string Scope::thread_name(std::uint64_t id) const {
  const ThreadInfo* thread = find(threads, id);
  return thread != nullptr && !thread->name.empty() ? thread->name : "thread#" + std::to_string(id);
}
// Thread groups and names: jdk.internal.misc.CarrierThread, java.lang.VirtualThread, sun.nio.ch.Poller (JDK 21 to 27).
bool Scope::serves_virtual_threads(std::uint64_t id) const {
  const ThreadInfo* thread = find(threads, id);
  if (thread == nullptr) return false;
  if (thread->group == "CarrierThreads") return true;
  return thread->group == "InnocuousThreadGroup" &&
         (thread->name.starts_with("VirtualThread-un") || thread->name.ends_with("-Poller"));
}
// JVM TI's GetObjectMonitorUsage (JDK-8328083).
bool Scope::hides_virtual_owners() const {
  constexpr std::uint64_t kFirstThatHides = 23;
  const auto shows_virtual = [](const auto& each) {
    return each.second.group == "CarrierThreads" || each.second.group == "VirtualThreads";
  };
  return has_owners && jdk >= kFirstThatHides && std::any_of(threads.begin(), threads.end(), shows_virtual);
}
std::string Scope::class_name(std::uint64_t id) const {
  const ClassInfo* info = find(classes, id);
  return info != nullptr ? java_class_name(info->name) : "class#" + std::to_string(id);
}
std::string Scope::method_name(std::uint64_t id) const {
  const MethodInfo* method = find(methods, id);
  if (method == nullptr) return "method#" + std::to_string(id);
  return method->class_id == 0 ? method->name : class_name(method->class_id) + "." + method->name;
}

Scope& Scopes::of_agent(std::string_view agent_id) {
  if (const auto found = agents_.find(agent_id); found != agents_.end()) return *scopes_[found->second];
  scopes_.push_back(std::make_unique<Scope>());
  Scope& scope = *scopes_.back();
  scope.index = scopes_.size() - 1;
  scope.agent_id = agent_id;
  agents_.emplace(agent_id, scope.index);
  return scope;
}

Scope& Scopes::of(Text trace_id) {
  if (!trace_id.present()) {
    if (current_ == nullptr) current_ = &of_agent({});
    return *current_;
  }
  if (last_ != nullptr && trace_id.view() == last_id_) return *last_;
  const auto found = traces_.find(trace_id.view());
  // Events without a traceStart belong to a producer of their own.
  Scope& scope = found != traces_.end() ? *scopes_[found->second] : of_agent(trace_id.view());
  last_id_ = trace_id.view();
  last_ = &scope;
  return scope;
}

void Scopes::start_trace(const TraceStart& start) {
  Scope& scope = of_agent(start.agentIdRef.view());
  traces_.insert_or_assign(text_of(start.traceId), scope.index);
  ++scope.traces;
  scope.calls_end = 0;
  if (!scope.start.present()) scope.start = start.time;
  current_ = &scope;
  last_ = nullptr;
}

Scope& Scopes::note(const Event& event) {
  switch (element_kind(event)) {
    case ElementKind::kNode: return take(std::get<Node>(event));
    case ElementKind::kProcessCreate: return take(std::get<ProcessCreate>(event));
    case ElementKind::kAgentCreate: return take(std::get<AgentCreate>(event));
    case ElementKind::kAgentDestroy: return take(std::get<AgentDestroy>(event));
    case ElementKind::kTraceStart: start_trace(std::get<TraceStart>(event)); return *current_;
    case ElementKind::kTraceEnd: return take(std::get<TraceEnd>(event));
    case ElementKind::kOption: return take(std::get<Option>(event));
    case ElementKind::kFilter: return take(std::get<Filter>(event));
    case ElementKind::kThreadStart: return take(std::get<ThreadStart>(event));
    case ElementKind::kThreadEnd: return take(std::get<ThreadEnd>(event));
    case ElementKind::kClassDef: return take(std::get<ClassDef>(event));
    case ElementKind::kMethodDef: return take(std::get<MethodDef>(event));
    case ElementKind::kObjAlloc: return take(std::get<ObjAlloc>(event));
    case ElementKind::kObjDef: return take(std::get<ObjDef>(event));
    case ElementKind::kObjFree: return take(std::get<ObjFree>(event));
    default: return of(common_of(event).trace_id);
  }
}

Scope& Scopes::take(const Node& node) {
  nodes_.insert_or_assign(text_of(node.nodeId), NodeInfo{text_of(node.hostname), text_of(node.ipaddress), node.time});
  return nobody_;
}

Scope& Scopes::take(const ProcessCreate& process) {
  processes_.insert_or_assign(text_of(process.processId), ProcessInfo{text_of(process.name), text_of(process.nodeIdRef),
                                                                      text_of(process.application_executable),
                                                                      process.pid.value_or(0), process.time});
  return nobody_;
}

Scope& Scopes::take(const AgentCreate& agent) {
  Scope& scope = of_agent(agent.agentId.view());
  scope.created = agent.time;
  scope.agent_name = text_of(agent.agentName);
  scope.agent_version = text_of(agent.version);
  scope.agent_parameters = text_of(agent.agentParameters);
  scope.process_id = text_of(agent.processIdRef);
  if (const auto process = processes_.find(agent.processIdRef.view()); process != processes_.end()) {
    scope.process_name = process->second.name;
    scope.executable = process->second.executable;
    scope.pid = process->second.pid;
    scope.node_id = process->second.node_id;
    if (const auto node = nodes_.find(scope.node_id); node != nodes_.end()) scope.hostname = node->second.hostname;
  }
  current_ = &scope;
  return scope;
}

Scope& Scopes::take(const AgentDestroy& agent) {
  Scope& scope = of_agent(agent.agentIdRef.view());
  scope.destroyed = agent.time;
  return scope;
}

Scope& Scopes::take(const TraceEnd& end) {
  Scope& scope = of(end.traceIdRef);
  scope.end = end.time;
  return scope;
}

Scope& Scopes::take(const Option& option) {
  Scope& scope = of(option.traceIdRef);
  scope.losses += losses_of(option);
  note_option(scope, option.key.view(), option.value.view());
  return scope;
}

Scope& Scopes::take(const Filter& filter) {
  Scope& scope = of(filter.traceIdRef);
  const bool is_of_methods = filter.methodPattern.present() && filter.methodPattern.view() != "*";
  scope.excludes |= filter.mode.view() == "exclude" && !is_of_methods;
  return scope;
}

Scope& Scopes::take(const ThreadStart& start) {
  Scope& scope = of(start.traceIdRef);
  if (start.threadId.present())
    scope.threads.insert_or_assign(
        start.threadId.value(), ThreadInfo{text_of(start.threadName), text_of(start.groupName), start.time, {}, true});
  return scope;
}

Scope& Scopes::take(const ThreadEnd& end) {
  Scope& scope = of(end.traceIdRef);
  if (end.threadIdRef.present()) scope.threads[end.threadIdRef.value()].end = end.time;
  return scope;
}

Scope& Scopes::take(const ClassDef& definition) {
  Scope& scope = of(definition.traceIdRef);
  const ClassId id = definition.classId.present() ? definition.classId : definition.transientClassId;
  if (id.present())
    scope.classes.insert_or_assign(id.value(), ClassInfo{text_of(definition.name), text_of(definition.sourceName),
                                                         text_of(definition.superclass)});
  return scope;
}

Scope& Scopes::take(const MethodDef& definition) {
  Scope& scope = of(definition.traceIdRef);
  if (!definition.methodId.present()) return scope;
  const std::uint64_t class_id = definition.classIdRef.present() ? definition.classIdRef.value() : 0;
  const ClassInfo* type = find(scope.classes, class_id);
  scope.methods.insert_or_assign(
      definition.methodId.value(),
      MethodInfo{text_of(definition.name), text_of(definition.signature), class_id,
                 definition.startLineNumber.value_or(0), definition.isSynchronized.value_or(false),
                 io_kind(type == nullptr ? std::string_view() : type->name, definition.name.view()),
                 definition.isStatic.value_or(false)});
  return scope;
}

Scope& Scopes::take(const ObjAlloc& alloc) {
  Scope& scope = of(alloc.traceIdRef);
  if (with_objects_) note_object(scope, alloc.objId, alloc.classIdRef, alloc.isArray);
  return scope;
}

Scope& Scopes::take(const ObjDef& definition) {
  Scope& scope = of(definition.traceIdRef);
  if (with_objects_) note_object(scope, definition.objId, definition.classIdRef, definition.isArray);
  return scope;
}

Scope& Scopes::take(const ObjFree& gone) {
  Scope& scope = of(gone.traceIdRef);
  if (with_objects_ && gone.objIdRef.present()) scope.objects.erase(gone.objIdRef.value());
  return scope;
}

std::optional<Gap> gap_of(const Event& event, const Scope& scope) {
  const auto* option = std::get_if<Option>(&event);
  if (option == nullptr) return std::nullopt;
  // An option that cannot be parsed is still a gap.
  if (option->key.view() == kGapKey) return read_gap(option->value.view()).value_or(Gap{});
  if (option->key.view() == kDroppedKey && !scope.gaps_by_thread)
    return Gap{.lost = parse_decimal<std::uint64_t>(option->value.view()).value_or(0)};
  return std::nullopt;
}

Common common_of(const Event& event) {
  return std::visit(
      [](const auto& element) {
        Common common;
        if constexpr (requires { element.time; }) common.time = element.time;
        if constexpr (requires { element.threadIdRef; }) common.thread = element.threadIdRef;
        else if constexpr (requires { element.threadId; }) common.thread = element.threadId;
        if constexpr (requires { element.traceIdRef; }) common.trace_id = element.traceIdRef;
        else if constexpr (requires { element.traceId; }) common.trace_id = element.traceId;
        if constexpr (requires { element.collationValue; }) {
          common.collation = element.collationValue;
          common.can_collate = true;
        }
        return common;
      },
      event);
}

}  // namespace jtrace::trace::io
