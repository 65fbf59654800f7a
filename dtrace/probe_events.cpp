#include "dtrace/probe_events.h"

#include <algorithm>

#include "base/file.h"
#include "base/strings.h"
#include "trace/option_keys.h"
#include "trace/vm_threads.h"

namespace jtrace::dtrace {
namespace {

using trace::ClassId;
using trace::MethodId;
using trace::ObjectId;
using trace::ThreadId;

constexpr std::size_t kDeepest = 100'000;  // open frames of a thread; deeper entries are not remembered

std::uint64_t array_kind(std::string_view class_name) {
  if (!class_name.starts_with('[') || class_name.size() < 2) return 0;
  // codes of newarray (JVMS 6.5); arrays of objects and of arrays are 2
  constexpr std::string_view kLetters = "ZCFDBSIJ";
  const std::size_t at = kLetters.find(class_name[1]);
  return at == std::string_view::npos ? 2 : 4 + at;
}

}  // namespace

ProbeEvents::ProbeEvents(trace::EventSink& sink, const target::Process& process, const std::vector<TracedSite>& sites,
                         const ClockAnchor& anchor, EventOptions options)
    : sink_(sink), process_(process), sites_(sites), anchor_(anchor), options_(std::move(options)) {
  for (const TracedSite& site : sites_) kinds_.push_back(kind_of(*site.probe));
}

ProbeEvents::Kind ProbeEvents::kind_of(const Probe& probe) {
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"thread__start", Kind::kThreadStart},
      {"thread__stop", Kind::kThreadStop},
      {"class__loaded", Kind::kClassLoaded},
      {"class__unloaded", Kind::kClassUnloaded},
      {"gc__begin", Kind::kGcBegin},
      {"gc__end", Kind::kGcEnd},
      {"mem__pool__gc__end", Kind::kPoolEnd},
      {"monitor__wait", Kind::kWait},
      {"monitor__waited", Kind::kWaited},
      {"thread__sleep__begin", Kind::kSleep},
      {"thread__sleep__end", Kind::kSlept},
      {"monitor__contended__enter", Kind::kContendedEnter},
      {"monitor__contended__entered", Kind::kContendedEntered},
      {"monitor__contended__exit", Kind::kContendedExit},
      {"object__alloc", Kind::kAlloc},
      {"method__entry", Kind::kEntry},
      {"method__return", Kind::kReturn},
      {"vm__init__end", Kind::kInitDone},
      {"vm__shutdown", Kind::kShutdown},
  };
  // Only if the operands are those that are known.
  for (const auto& [name, kind] : kKinds)
    if (probe.provider == "hotspot" && probe.name == name) return kind;
  return Kind::kOther;
}

Result<> ProbeEvents::write(const ProbeRecord& record) {
  const TracedSite& site = sites_[record.site];
  const Kind kind = kinds_[record.site];
  counts_.taken += site.chosen;
  // A site with fewer operands than its kind needs is unknown.
  std::size_t least = 0;
  for (const ProbeArgument& argument : site.probe->description.arguments)
    least = std::max(least, argument.operand + (argument.is_text() ? 2 : 1));
  if (record.operands.size() < least) {
    counts_.without_element += site.chosen;
    return {};
  }
  if (is_after_end(record, kind)) {
    counts_.without_element += site.chosen;
    return {};
  }
  const bool stack = record.stack != nullptr && options_.stack_text && kind != Kind::kAlloc;
  if (!stack) return write_element(record, kind);
  // After its threadEnd a thread is no longer known.
  if (kind == Kind::kThreadStop) JTRACE_RETURN_IF_ERROR(write_stack(record));
  const std::uint64_t filtered = counts_.filtered;
  JTRACE_RETURN_IF_ERROR(write_element(record, kind));
  return kind == Kind::kThreadStop || counts_.filtered != filtered ? Result<>() : write_stack(record);
}

Result<> ProbeEvents::write_stack(const ProbeRecord& record) {
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record));
  const std::string text = sites_[record.site].probe->full_name() + ' ' + std::to_string(thread.value()) + ' ' +
                           options_.stack_text(*record.stack);
  return sink_.write(trace::Option{.key = trace::kStackKey, .value = text});
}

Result<> ProbeEvents::write_element(const ProbeRecord& record, Kind kind) {
  const TracedSite& site = sites_[record.site];
  switch (kind) {
    case Kind::kThreadStart: return start_thread(record, site.chosen);
    case Kind::kThreadStop: return stop_thread(record, site.chosen);
    case Kind::kClassLoaded: return load_class(record);
    case Kind::kClassUnloaded: return unload_class(record);
    case Kind::kGcBegin:
    case Kind::kGcEnd:
    case Kind::kPoolEnd: return gc(record, kind, site.chosen);
    case Kind::kWait:
    case Kind::kWaited:
    case Kind::kSleep:
    case Kind::kSlept: return wait(record, kind, site.chosen);
    case Kind::kContendedEnter:
    case Kind::kContendedEntered:
    case Kind::kContendedExit: return contend(record, kind, site.chosen);
    case Kind::kAlloc: return alloc(record);
    case Kind::kEntry: return site.counts_methods ? count_method(record) : enter_method(record);
    case Kind::kReturn: return leave_method(record);
    case Kind::kInitDone: return runtime<trace::RuntimeInitDone>(record);
    case Kind::kShutdown:
      if (std::exchange(shut_down_, true)) return {};
      return runtime<trace::RuntimeShutdown>(record);
    case Kind::kOther: break;
  }
  counts_.without_element += site.chosen;
  return {};
}

void ProbeEvents::forget_after_loss() {
  for (auto& [tid, thread] : threads_) {
    thread.frames.clear();
    thread.wait_start = 0;
  }
  for (auto& [address, monitor] : monitors_) monitor.owner = {};
  gc_depth_unknown_ = gc_depth_ > 0;
  gc_depth_ = std::min(gc_depth_, 1U);
}

bool ProbeEvents::wanted(std::string_view class_name, std::string_view method) {
  if (!options_.wanted || options_.wanted(class_name, method)) return true;
  ++counts_.filtered;
  return false;
}

std::string ProbeEvents::text(const ProbeRecord& record, std::size_t operand) {
  const ProbeText& found = record.texts[operand];
  counts_.missing_texts += found.missing;
  counts_.cut_texts += found.cut;
  return found.missing ? "?" : utf8_from_modified(found.text);
}

ProbeEvents::Thread& ProbeEvents::thread_of(const ProbeRecord& record, std::uint64_t java_id) {
  const auto [at, is_new] = threads_.try_emplace(record.tid);
  Thread& thread = at->second;
  if (!is_new) return thread;
  const std::string folder = "task/" + std::to_string(record.tid) + "/";
  thread.inner = record.tid;
  if (const auto status = process_.read_proc(folder + "status")) {
    const target::ProcessStatus parsed = target::parse_status(*status);
    if (!parsed.nspid.empty()) thread.inner = static_cast<std::uint64_t>(parsed.nspid.back());
    thread.name = parsed.name;
  }
  thread.id = ThreadId(java_id != 0 ? java_id : trace::kVmThreadBase + thread.inner);
  return thread;
}

Result<> ProbeEvents::define_thread(Thread& thread, trace::Time time) {
  thread.written = true;
  return sink_.write(trace::ThreadStart{.transientThreadId = trace::TransientThreadId(thread.inner),
                                        .threadId = thread.id,
                                        .time = time,
                                        .groupName = thread.group.empty() ? trace::Text() : trace::Text(thread.group),
                                        .objIdRef = ObjectId::none(),
                                        .threadName = thread.name});
}

Result<> ProbeEvents::add_running_threads(const std::vector<EarlierThread>& threads, bool define, trace::Time time) {
  for (const EarlierThread& earlier : threads) {
    Thread& thread = threads_[earlier.tid];
    thread.id = ThreadId(earlier.java_id);
    thread.inner = earlier.inner;
    thread.name = earlier.name;
    thread.group = earlier.group;
    if (define) JTRACE_RETURN_IF_ERROR(define_thread(thread, time));
  }
  return {};
}

Result<ThreadId> ProbeEvents::need_thread(const ProbeRecord& record, std::uint64_t java_id) {
  Thread& thread = thread_of(record, java_id);
  if (!thread.written) JTRACE_RETURN_IF_ERROR(define_thread(thread, wall(record)));
  return thread.id;
}

Result<> ProbeEvents::start_thread(const ProbeRecord& record, bool chosen) {
  const ThreadId id(record.operands[2]);
  const auto known = threads_.find(record.tid);
  // It started while the threads were being listed, and is in the list.
  if (known != threads_.end() && known->second.id == id && known->second.written) return {};
  Thread thread;
  thread.name = text(record, 0);
  thread.id = id;
  thread.inner = record.operands[3];
  threads_[record.tid] = std::move(thread);
  if (chosen) JTRACE_RETURN_IF_ERROR(need_thread(record));
  return {};
}

// The probes whose first operand is the threadId.
bool ProbeEvents::is_after_end(const ProbeRecord& record, Kind kind) const {
  switch (kind) {
    case Kind::kWait:
    case Kind::kWaited:
    case Kind::kContendedEnter:
    case Kind::kContendedEntered:
    case Kind::kContendedExit:
    case Kind::kAlloc:
    case Kind::kEntry:
    case Kind::kReturn: break;
    default: return false;
  }
  const auto ended = ended_.find(record.tid);
  return ended != ended_.end() && ended->second == record.operands[0];
}

Result<> ProbeEvents::stop_thread(const ProbeRecord& record, bool chosen) {
  ended_[record.tid] = record.operands[2];
  const auto known = threads_.find(record.tid);
  if (!chosen && (known == threads_.end() || !known->second.written)) {
    threads_.erase(record.tid);
    return {};
  }
  if (known == threads_.end()) {
    Thread& thread = thread_of(record, record.operands[2]);
    thread.name = text(record, 0);
  }
  JTRACE_ASSIGN_OR_RETURN(const ThreadId id, need_thread(record));
  threads_.erase(record.tid);
  return sink_.write(trace::ThreadEnd{.threadIdRef = id, .time = wall(record)});
}

Result<> ProbeEvents::define_class(ClassId id, const std::string& name, std::uint64_t loader_data, ThreadId thread,
                                   trace::Time time) {
  std::optional<coreinspect::ClassDefinition> facts;
  if (options_.class_of) facts = options_.class_of(name, loader_data);
  trace::ClassDef definition;
  if (facts) definition = facts->element();
  definition.name = name;
  definition.threadIdRef = thread;
  definition.time = time;
  definition.classId = definition.transientClassId = id;
  definition.objIdRef = ObjectId::none();
  return sink_.write(definition);
}

Result<ClassId> ProbeEvents::need_class(const std::string& name, const ProbeRecord& record) {
  const auto [at, is_new] = classes_.try_emplace(name, next_class_);
  if (!is_new) return ClassId(at->second);
  const ClassId id(next_class_++);
  JTRACE_RETURN_IF_ERROR(define_class(id, name, 0, {}, wall(record)));
  return id;
}

Result<> ProbeEvents::load_class(const ProbeRecord& record) {
  const std::string name = text(record, 0);
  if (!wanted(name)) return {};
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record));
  const ClassId id(next_class_++);
  classes_[name] = id.value();
  loaded_[{name, record.operands[2]}] = id.value();
  return define_class(id, name, record.operands[2], thread, wall(record));
}

Result<> ProbeEvents::unload_class(const ProbeRecord& record) {
  const std::string name = text(record, 0);
  if (!wanted(name)) return {};
  std::uint64_t id = 0;
  if (const auto known = loaded_.find({name, record.operands[2]}); known != loaded_.end()) {
    id = known->second;
    loaded_.erase(known);
  }
  const auto last = classes_.find(name);
  if (last != classes_.end() && (id == 0 || last->second == id)) {
    id = last->second;
    classes_.erase(last);
  }
  if (id == 0) return {};  // the document has no definition of it
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record));
  return sink_.write(trace::ClassUnload{.threadIdRef = thread, .time = wall(record), .classIdRef = ClassId(id)});
}

Result<> ProbeEvents::gc(const ProbeRecord& record, Kind kind, bool chosen) {
  if (kind == Kind::kPoolEnd) {
    pools_[text(record, 2)] = {record.operands[5], record.operands[6]};
    counts_.without_element += chosen;
    return {};
  }
  if (kind == Kind::kGcBegin) {
    // Not all sites had their probes yet: its end may have passed unseen.
    if (record.time < anchor_.monotonic) return {};
    if (std::exchange(gc_depth_unknown_, false)) return {};
    if (++gc_depth_ > 1) return {};  // inside a collection that is running
    JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record));
    return sink_.write(trace::GcStart{.threadIdRef = thread, .time = wall(record)});
  }
  gc_depth_unknown_ = false;
  if (gc_depth_ == 0 || --gc_depth_ > 0) return {};  // began before the trace; inside another one
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record));
  trace::GcFinish finish{.threadIdRef = thread, .time = wall(record)};
  if (!pools_.empty()) {
    std::uint64_t used = 0, committed = 0;
    for (const auto& [name, pool] : pools_) {
      used += pool.used;
      committed += pool.committed;
    }
    finish.totalObjectSpace = committed;
    finish.usedObjectSpace = used;
  }
  return sink_.write(finish);
}

Result<ProbeEvents::Monitor*> ProbeEvents::need_monitor(const ProbeRecord& record) {
  const std::string name = text(record, 2);
  Monitor& monitor = monitors_[record.operands[1]];
  // Another class at the same address: the monitor was freed and its memory reused.
  if (monitor.object != 0 && monitor.class_name == name) return &monitor;
  JTRACE_ASSIGN_OR_RETURN(const ClassId class_id, need_class(name, record));
  monitor = {next_object_++, name, {}};
  JTRACE_RETURN_IF_ERROR(sink_.write(
      trace::ObjDef{.objId = ObjectId(monitor.object), .isArray = array_kind(name), .classIdRef = class_id}));
  return &monitor;
}

Result<> ProbeEvents::wait(const ProbeRecord& record, Kind kind, bool chosen) {
  const bool sleeps = kind == Kind::kSleep || kind == Kind::kSlept;
  const bool begins = kind == Kind::kWait || kind == Kind::kSleep;
  ObjectId object = ObjectId::sleep();
  if (!sleeps) {
    if (!wanted(text(record, 2))) return {};
    if (!chosen && !monitors_.contains(record.operands[1])) return {};
    JTRACE_ASSIGN_OR_RETURN(Monitor* const monitor, need_monitor(record));
    object = ObjectId(monitor->object);
    monitor->owner = begins ? ThreadId() : thread_of(record, record.operands[0]).id;
    if (!chosen) return {};
  }
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record, sleeps ? 0 : record.operands[0]));
  Thread& state = threads_.at(record.tid);
  if (begins) {
    state.wait_start = record.time;
    return sink_.write(trace::MonWait{thread, wall(record), object, record.operands[sleeps ? 0 : 4]});
  }
  trace::Number waited;  // unknown if the wait began before the trace
  if (state.wait_start != 0) waited = (record.time - std::exchange(state.wait_start, 0)) / 1'000'000;
  return sink_.write(trace::MonWaited{thread, wall(record), object, waited});
}

Result<> ProbeEvents::contend(const ProbeRecord& record, Kind kind, bool chosen) {
  if (!wanted(text(record, 2))) return {};
  if (kind == Kind::kContendedExit) {
    const auto known = monitors_.find(record.operands[1]);
    if (known != monitors_.end()) known->second.owner = {};
    counts_.without_element += chosen;
    return {};
  }
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record, record.operands[0]));
  JTRACE_ASSIGN_OR_RETURN(Monitor* const monitor, need_monitor(record));
  const ObjectId object(monitor->object);
  if (kind == Kind::kContendedEnter) {
    trace::MonContendedEnter enter{thread, wall(record), object};
    if (monitor->owner.present() && monitor->owner != thread) enter.threadOwner = monitor->owner;
    return chosen ? sink_.write(enter) : Result<>();
  }
  monitor->owner = thread;
  return chosen ? sink_.write(trace::MonContendedEntered{thread, wall(record), object}) : Result<>();
}

Result<> ProbeEvents::alloc(const ProbeRecord& record) {
  const std::string name = text(record, 1);
  if (!wanted(name)) return {};
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record, record.operands[0]));
  JTRACE_ASSIGN_OR_RETURN(const ClassId class_id, need_class(name, record));
  const ObjectId object(next_object_++);
  const std::string stack = record.stack && options_.stack_text ? options_.stack_text(*record.stack) : "";
  return sink_.write(trace::ObjAlloc{.threadIdRef = thread,
                                     .time = wall(record),
                                     .isArray = array_kind(name),
                                     .transientObjId = object,
                                     .objId = object,
                                     .size = record.operands[3],
                                     .classIdRef = class_id,
                                     .contextData = stack.empty() ? trace::Text() : trace::Text(stack)});
}

Result<std::uint64_t> ProbeEvents::need_method(const ProbeRecord& record, ClassId& class_id) {
  JTRACE_ASSIGN_OR_RETURN(class_id, need_class(text(record, 1), record));
  const std::string name = text(record, 3), signature = text(record, 5);
  const auto [at, is_new] = methods_.try_emplace({class_id.value(), name, signature}, next_method_);
  if (!is_new) return at->second;
  ++next_method_;
  JTRACE_RETURN_IF_ERROR(sink_.write(trace::MethodDef{
      .name = name, .signature = signature, .classIdRef = class_id, .methodId = MethodId(at->second)}));
  return at->second;
}

Result<> ProbeEvents::enter_method(const ProbeRecord& record) {
  if (options_.wanted && !wanted(text(record, 1), text(record, 3))) return {};
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record, record.operands[0]));
  ClassId class_id;
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t method, need_method(record, class_id));
  Thread& state = threads_.at(record.tid);
  const std::uint64_t ticket = ++state.ticket;
  if (state.frames.size() < kDeepest) state.frames.push_back({method, ticket});
  return sink_.write(trace::MethodEntry{.threadIdRef = thread,
                                        .time = wall(record),
                                        .methodIdRef = MethodId(method),
                                        .ticket = ticket,
                                        .classIdRef = class_id,
                                        .stackDepth = state.frames.size()});
}

// The first hit of a method; it is counted from now on.
Result<> ProbeEvents::count_method(const ProbeRecord& record) {
  if (record.operands.size() < 8) return {};
  std::uint64_t& method = counted_[{record.operands[7], record.operands[1], record.operands[3], record.operands[5]}];
  if (method != 0 || !wanted(text(record, 1), text(record, 3))) return {};
  ClassId class_id;
  JTRACE_ASSIGN_OR_RETURN(method, need_method(record, class_id));
  return {};
}

Result<> ProbeEvents::write_counts(const std::vector<MethodHits>& hits) {
  // one method has several keys if symbols were freed in the meantime
  std::map<std::uint64_t, std::uint64_t> by_method;
  for (const MethodHits& hit : hits) {
    const auto known = counted_.find(hit.method);
    if (known == counted_.end()) counts_.unknown_methods += hit.count;
    else if (known->second != 0) by_method[known->second] += hit.count;
  }
  for (const auto& [method, count] : by_method)
    JTRACE_RETURN_IF_ERROR(sink_.write(trace::MethodCount{.count = count, .methodIdRef = MethodId(method)}));
  return {};
}

Result<> ProbeEvents::leave_method(const ProbeRecord& record) {
  if (options_.wanted && !wanted(text(record, 1), text(record, 3))) return {};
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record, record.operands[0]));
  ClassId class_id;
  JTRACE_ASSIGN_OR_RETURN(const std::uint64_t method, need_method(record, class_id));
  std::vector<Frame>& frames = threads_.at(record.tid).frames;
  // The end of a compiled caller is not always reported: frames above this one have ended.
  const auto at = std::find_if(frames.rbegin(), frames.rend(), [&](const Frame& f) { return f.method == method; });
  if (at == frames.rend()) {
    ++counts_.exits_without_entry;
    return {};
  }
  const std::uint64_t ticket = at->ticket;
  frames.erase(at.base() - 1, frames.end());
  return sink_.write(trace::MethodExit{.threadIdRef = thread,
                                       .time = wall(record),
                                       .ticket = ticket,
                                       .methodIdRef = MethodId(method),
                                       .classIdRef = class_id});
}

template <class Element>
Result<> ProbeEvents::runtime(const ProbeRecord& record) {
  JTRACE_ASSIGN_OR_RETURN(const ThreadId thread, need_thread(record));
  return sink_.write(Element{.threadIdRef = thread, .time = wall(record)});
}

}  // namespace jtrace::dtrace
