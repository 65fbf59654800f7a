#include "trace/io/validator.h"

#include <algorithm>

#include "base/strings.h"
#include "trace/option_keys.h"
#include "trace/record/start_options.h"

namespace jtrace::trace::io {
namespace {

constexpr int kNodeId = 0, kProcessId = 1, kAgentId = 2;

std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 64)) + "'"; }
std::string element_name_of(const Event& event) {
  return "<" + std::string(element_info(element_kind(event)).name) + ">";
}

}  // namespace

Result<> Validator::fault(std::string_view kind, const std::string& message) {
  return faults_.add(name_, here(), kind, message, message);
}

Result<> Validator::write(const Event& event) {
  ++events_;
  JTRACE_RETURN_IF_ERROR(check_hierarchy(event));
  Scope& scope = scopes_.note(event);
  const ElementKind kind = element_kind(event);
  if (kind == ElementKind::kNode || kind == ElementKind::kProcessCreate) return {};
  if (states_.size() <= scope.index) states_.resize(scope.index + 1);
  if (!states_[scope.index]) states_[scope.index] = std::make_unique<State>();
  State& state = *states_[scope.index];
  const Common common = common_of(event);
  JTRACE_RETURN_IF_ERROR(check_collation(event, common, scope));
  // A classDef has the time of the definition, but comes where its class is first referred to, which may be later.
  if (kind != ElementKind::kClassDef) JTRACE_RETURN_IF_ERROR(check_time(event, common, state, scope));
  JTRACE_RETURN_IF_ERROR(check_references(event, scope, state));
  JTRACE_RETURN_IF_ERROR(check_definition(event, state));
  return check_balance(event, scope, state);
}

// node > processCreate > agentCreate > traceStart.
Result<> Validator::check_hierarchy(const Event& event) {
  const auto define_uuid = [&](Text id, int kind) -> Result<> {
    const auto [at, fresh] = uuids_.emplace(std::string(id.view()), kind);
    // Several producers may name the same node or process.
    if (!fresh && (kind == kAgentId || at->second != kind))
      return fault("duplicate definition", element_name_of(event) + " " + quoted(id.view()) + " is defined twice");
    return {};
  };
  const auto need = [&](Text id, int kind) -> Result<> {
    const auto found = uuids_.find(id.view());
    if (found != uuids_.end() && found->second == kind) return {};
    return fault("undefined reference",
                 element_name_of(event) + " refers to " + quoted(id.view()) + ", which nothing before it defines");
  };
  if (const auto* node = std::get_if<Node>(&event)) return define_uuid(node->nodeId, kNodeId);
  if (const auto* process = std::get_if<ProcessCreate>(&event)) {
    JTRACE_RETURN_IF_ERROR(need(process->nodeIdRef, kNodeId));
    return define_uuid(process->processId, kProcessId);
  }
  if (const auto* agent = std::get_if<AgentCreate>(&event)) {
    JTRACE_RETURN_IF_ERROR(need(agent->processIdRef, kProcessId));
    return define_uuid(agent->agentId, kAgentId);
  }
  if (const auto* destroy = std::get_if<AgentDestroy>(&event)) return need(destroy->agentIdRef, kAgentId);
  if (const auto* start = std::get_if<TraceStart>(&event)) {
    JTRACE_RETURN_IF_ERROR(need(start->agentIdRef, kAgentId));
    if (traces_.count(start->traceId.view()) != 0)
      return fault("duplicate definition", "trace " + quoted(start->traceId.view()) + " starts twice");
    traces_.emplace(std::string(start->traceId.view()), Trace{});
    current_trace_ = start->traceId.view();
    return {};
  }
  const Text id = common_of(event).trace_id;
  if (!id.present()) return {};
  const auto trace = traces_.find(id.view());
  if (trace == traces_.end()) {
    traces_.emplace(std::string(id.view()), Trace{});  // reported once
    return fault("undefined reference", element_name_of(event) + " refers to the trace " + quoted(id.view()) +
                                            ", which nothing before it starts");
  }
  if (!std::holds_alternative<TraceEnd>(event)) return {};
  if (trace->second.ended) return fault("unbalanced", "trace " + quoted(id.view()) + " ends twice");
  trace->second.ended = true;
  return {};
}

Result<> Validator::check_collation(const Event& event, const Common& common, Scope&) {
  if (!common.can_collate) return {};
  const std::string_view id = common.trace_id.present() ? common.trace_id.view() : std::string_view(current_trace_);
  if (!common.collation.present()) return {};
  const auto trace = traces_.find(id);
  if (trace == traces_.end()) return {};
  Collation& collation = trace->second.collation;
  const std::uint64_t value = common.collation.value();
  if (std::holds_alternative<TraceStart>(event) && value != 1)
    JTRACE_RETURN_IF_ERROR(fault("collation", "traceStart has collationValue " + std::to_string(value) + ", not 1"));
  auto after = collation.ranges.upper_bound(value);
  if (after != collation.ranges.begin()) {
    auto range = std::prev(after);
    if (value <= range->second) {
      ++collation.duplicates;
      return fault("duplicate collationValue",
                   element_name_of(event) + " has the collationValue " + std::to_string(value) + " of another element");
    }
    if (value == range->second + 1) {
      ++range->second;
      if (after != collation.ranges.end() && after->first == value + 1) {
        range->second = after->second;
        collation.ranges.erase(after);
      }
      return {};
    }
  }
  if (after != collation.ranges.end() && after->first == value + 1) {
    const std::uint64_t last = after->second;
    collation.ranges.erase(after);
    collation.ranges.emplace(value, last);
  } else {
    collation.ranges.emplace(value, value);
  }
  return {};
}

Result<> Validator::check_time(const Event& event, const Common& common, State& state, Scope& scope) {
  if (!common.time.present() || !common.thread.present() || scope.snapshot) return {};
  Thread& thread = state.running[common.thread.value()];
  const bool is_call = std::holds_alternative<MethodEntry>(event) || std::holds_alternative<MethodExit>(event);
  std::uint64_t& last = is_call && state.has_late_entries ? thread.last_call_time : thread.last_time;
  const std::uint64_t before = std::exchange(last, std::max(last, common.time.ns()));
  if (is_call) thread.last_call_time = std::max(thread.last_call_time, common.time.ns());
  if (std::holds_alternative<MethodExit>(event)) thread.last_time = std::max(thread.last_time, common.time.ns());
  if (common.time.ns() >= before) return {};
  return fault("time goes back", "the time of thread " + std::to_string(common.thread.value()) + " goes back by " +
                                     std::to_string(before - common.time.ns()) + " ns");
}

Result<> Validator::define(IdSet& ids, std::uint64_t id, std::string_view what) {
  if (ids.insert(id).second) return {};
  return fault("duplicate definition",
               std::string(what) + " " + std::to_string(id) +
                   " is defined again while it is in use: the new definition applies from here on");
}

Result<> Validator::use(const IdSet& ids, std::uint64_t id, std::string_view what, std::string_view by) {
  if (id == 0 || ids.count(id) != 0) return {};
  return fault("undefined reference", "<" + std::string(by) + "> refers to " + std::string(what) + " " +
                                          std::to_string(id) + ", which nothing before it defines");
}

// Ids that refer to a definition elsewhere. By the format, transient ids may lack one.
Result<> Validator::check_references(const Event& event, Scope&, State& state) {
  return std::visit(
      [&](const auto& element) -> Result<> {
        using Element = std::remove_cvref_t<decltype(element)>;
        constexpr std::string_view name = Schema<Element>::name;
        if constexpr (std::is_same_v<Element, InvocationContext>) return {};
        if constexpr (requires { element.threadIdRef; }) {
          if (element.threadIdRef.present() && state.ended.count(element.threadIdRef.value()) != 0)
            return fault("reference after the end", "<" + std::string(name) + "> refers to thread " +
                                                        std::to_string(element.threadIdRef.value()) +
                                                        ", which has ended");
          if (element.threadIdRef.present() && !state.threads.empty())
            JTRACE_RETURN_IF_ERROR(use(state.threads, element.threadIdRef.value(), "thread", name));
        }
        if constexpr (requires { element.classIdRef; }) {
          if (element.classIdRef.present())
            JTRACE_RETURN_IF_ERROR(use(state.classes, element.classIdRef.value(), "class", name));
        }
        if constexpr (requires { element.methodIdRef; }) {
          if (element.methodIdRef.present())
            JTRACE_RETURN_IF_ERROR(use(state.methods, element.methodIdRef.value(), "method", name));
        }
        if constexpr (requires { element.objIdRef; }) {
          if (element.objIdRef.present() && element.objIdRef.is_number() && !state.objects.empty())
            JTRACE_RETURN_IF_ERROR(use(state.objects, element.objIdRef.value(), "object", name));
        }
        return {};
      },
      event);
}

Result<> Validator::check_definition(const Event& event, State& state) {
  switch (element_kind(event)) {
    case ElementKind::kThreadStart: {
      const auto& start = std::get<ThreadStart>(event);
      if (!start.threadId.present()) return {};
      state.running.erase(start.threadId.value());
      state.ended.erase(start.threadId.value());
      return define(state.threads, start.threadId.value(), "thread");
    }
    case ElementKind::kClassDef: {
      const auto& definition = std::get<ClassDef>(event);
      return definition.classId.present() ? define(state.classes, definition.classId.value(), "class") : Result<>();
    }
    case ElementKind::kMethodDef: {
      const auto& definition = std::get<MethodDef>(event);
      return definition.methodId.present() ? define(state.methods, definition.methodId.value(), "method") : Result<>();
    }
    case ElementKind::kObjAlloc: {
      const auto& alloc = std::get<ObjAlloc>(event);
      return alloc.objId.present() && alloc.objId.is_number() ? define(state.objects, alloc.objId.value(), "object")
                                                              : Result<>();
    }
    case ElementKind::kObjDef: return define(state.objects, std::get<ObjDef>(event).objId.value(), "object");
    case ElementKind::kObjFree: {
      const auto& gone = std::get<ObjFree>(event);
      if (gone.objIdRef.present()) state.objects.erase(gone.objIdRef.value());
      return {};
    }
    case ElementKind::kClassUnload: {
      const auto& gone = std::get<ClassUnload>(event);
      if (gone.classIdRef.present()) state.classes.erase(gone.classIdRef.value());
      return {};
    }
    default: return {};
  }
}

// Events of the thread (0: of any thread) are missing in the trace.
void Validator::lose(State& state, std::uint64_t lost) {
  state.gc_open = false;
  state.gc_unknown = true;
  const auto forget = [](Thread& thread) {
    thread.stack.clear();
    thread.after_gap = true;
    thread.waits = thread.blocked = false;
  };
  if (lost != 0) return forget(state.running[lost]);
  state.has_gap = true;
  for (auto& [id, thread] : state.running) forget(thread);
}

// What was open in an earlier document, or was lost, ends here without a begin.
void Validator::note_option(const Option& option, const Event& event, Scope& scope, State& state) {
  const std::string_view key = option.key.view();
  if (const auto gap = gap_of(event, scope)) return lose(state, gap->thread);
  if (key == kContinuesKey) return lose(state, 0);
  if (key == kExitKey) state.exits = parse_decimal<std::uint64_t>(option.value.view()).value_or(0);
  if (key == record::kSlowerThanOption) state.has_late_entries = true;
  if (key != kPausedKey && key != kCallsEndKey) return;
  for (auto& [id, thread] : state.running) {  // the end of a wait may be written while the trace is paused
    thread.stack.clear();
    thread.after_gap = true;
  }
}

// Ends a frame or, with `is_call`, a call as its caller sees it: the innermost that matches.
template <class Element>
Result<> Validator::check_end(const Element& end, bool is_call, Thread& thread, State& state) {
  const std::string name = is_call ? "methodReturn" : "methodExit";
  std::size_t depth = thread.stack.size();
  for (; depth > 0; --depth) {
    const Frame& frame = thread.stack[depth - 1];
    const bool same = end.ticket.present() && frame.has_ticket ? frame.ticket == end.ticket.value()
                                                               : end.methodIdRef == MethodId(frame.method);
    if (same && frame.is_call == is_call) break;
  }
  if (depth == 0) {
    if (thread.after_gap || state.has_gap) return {};
    return fault("unbalanced", name + " without a " + (is_call ? "methodCall" : "methodEntry"));
  }
  const std::size_t skipped = thread.stack.size() - depth;
  thread.stack.resize(depth - 1);
  if (skipped == 0) return {};
  return fault("unbalanced", name + " leaves " + counted(skipped, "entered method") + " without an exit");
}

Result<> Validator::check_balance(const Event& event, Scope& scope, State& state) {
  if (const auto* option = std::get_if<Option>(&event)) {
    note_option(*option, event, scope, state);
    return {};
  }
  if (scope.snapshot) return {};
  const Common common = common_of(event);
  Thread& thread = state.running[common.thread.present() ? common.thread.value() : 0];
  switch (element_kind(event)) {
    case ElementKind::kMethodEntry: {
      const auto& entry = std::get<MethodEntry>(event);
      thread.stack.push_back({entry.ticket.value_or(0), entry.methodIdRef.present() ? entry.methodIdRef.value() : 0,
                              entry.ticket.present(), false});
      return {};
    }
    case ElementKind::kMethodExit: return check_end(std::get<MethodExit>(event), false, thread, state);
    case ElementKind::kMethodCall: {
      const auto& call = std::get<MethodCall>(event);
      thread.stack.push_back({call.ticket.value_or(0), call.methodIdRef.present() ? call.methodIdRef.value() : 0,
                              call.ticket.present(), true});
      return {};
    }
    case ElementKind::kMethodReturn: return check_end(std::get<MethodReturn>(event), true, thread, state);
    case ElementKind::kThreadEnd: {
      const auto& end = std::get<ThreadEnd>(event);
      if (!end.threadIdRef.present()) return {};
      const std::size_t open = thread.stack.size();
      state.running.erase(end.threadIdRef.value());
      state.ended.insert(end.threadIdRef.value());
      if (state.threads.erase(end.threadIdRef.value()) == 0 && !state.threads.empty())
        JTRACE_RETURN_IF_ERROR(fault("unbalanced", "threadEnd of a thread that has not started"));
      return open == 0 || end.threadIdRef.value() == state.exits
                 ? Result<>()
                 : fault("unbalanced", "a thread ends within " + counted(open, "entered method"));
    }
    case ElementKind::kGcStart:
      state.gc_unknown = false;
      if (std::exchange(state.gc_open, true)) return fault("unbalanced", "gcStart within a collection");
      return {};
    case ElementKind::kGcFinish:
      if (!std::exchange(state.gc_open, false) && !std::exchange(state.gc_unknown, false))
        return fault("unbalanced", "gcFinish without a gcStart");
      return {};
    case ElementKind::kMonWait:
      if (std::exchange(thread.waits, true)) return fault("unbalanced", "monWait of a thread that waits");
      return {};
    case ElementKind::kMonWaited: thread.waits = false; return {};  // it may have begun before the trace
    case ElementKind::kMonContendedEnter:
      if (std::exchange(thread.blocked, true))
        return fault("unbalanced", "monContendedEnter of a thread that is blocked");
      return {};
    case ElementKind::kMonContendedEntered: thread.blocked = false; return {};
    default: return {};
  }
}

Result<> Validator::finish() { return finish_after(Ending::kWhole); }

Result<> Validator::finish_after(Ending ending) {
  for (const auto& [id, trace] : traces_) {
    const auto& ranges = trace.collation.ranges;
    for (auto range = ranges.begin(); range != ranges.end(); ++range) {
      const std::uint64_t expected = range == ranges.begin() ? 1 : std::prev(range)->second + 1;
      if (range->first == expected) continue;
      const std::string message = "trace " + quoted(id) + " lacks the collationValues " + std::to_string(expected) +
                                  " to " + std::to_string(range->first - 1);
      JTRACE_RETURN_IF_ERROR(faults_.add(name_, {}, "collation gap", message, message));
    }
    if (ending == Ending::kWhole && !trace.ended && !trace.collation.ranges.empty())
      JTRACE_RETURN_IF_ERROR(faults_.add(name_, {}, "unbalanced", id, "trace " + quoted(id) + " has no traceEnd"));
  }
  return {};
}

}  // namespace jtrace::trace::io
