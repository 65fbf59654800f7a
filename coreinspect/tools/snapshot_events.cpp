#include "coreinspect/tools/snapshot_events.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "coreinspect/tools/class_definition.h"
#include "coreinspect/tools/counters.h"
#include "coreinspect/tools/heap_views.h"
#include "coreinspect/tools/named_classes.h"
#include "coreinspect/tools/owned_locks.h"
#include "coreinspect/tools/properties.h"
#include "coreinspect/tools/secrets.h"
#include "coreinspect/tools/thread_snapshot.h"
#include "coreinspect/tools/value_text.h"
#include "perfdata/counter_table.h"
#include "perfdata/snapshot_text.h"
#include "perfdata/trace_series.h"
#include "trace/access_flags.h"
#include "trace/option_keys.h"
#include "trace/vm_threads.h"

namespace jtrace::coreinspect {
namespace {

using trace::ClassId;
using trace::MethodId;
using trace::ObjectId;
using trace::ThreadId;

// Numbers addresses 1, 2, ... in the order of their appearance.
template <class Id>
class Numbers {
 public:
  // Returns the id, and whether it is new.
  std::pair<Id, bool> of(Address address) {
    const auto [at, added] = ids_.emplace(address, ids_.size() + 1);
    return {Id(at->second), added};
  }

 private:
  std::map<Address, std::uint64_t> ids_;
};

}  // namespace

class SnapshotEvents::Impl {
 public:
  Impl(Inspection& inspection, trace::EventSink& sink, SnapshotIdentity identity, ViewOptions options, bool several)
      : inspection_(inspection),
        document_(sink, true, several),
        identity_(std::move(identity)),
        options_(std::move(options)),
        mask_(options_.show_secrets),
        loaders_(inspection),
        time_(identity_.time) {}

  Result<> begin() { return document_.begin(identity_, identity_.time); }

  Result<> start_trace(std::uint64_t time) {
    time_ = trace::Time(time);
    JTRACE_RETURN_IF_ERROR(document_.begin_trace(time));
    JTRACE_RETURN_IF_ERROR(option(trace::kKindKey, trace::kSnapshotKind));
    const std::string key = vm_key(inspection_);
    return key.empty() ? Result<>() : option(trace::kVmKey, key);
  }

  Result<> write(const SnapshotParts& parts) {
    if (parts.options) JTRACE_RETURN_IF_ERROR(write_options());
    if (parts.arguments) JTRACE_RETURN_IF_ERROR(write_arguments());
    if (parts.counters) JTRACE_RETURN_IF_ERROR(write_counters());
    if (parts.classes) JTRACE_RETURN_IF_ERROR(write_classes());
    for (const std::string& name : parts.class_names) JTRACE_RETURN_IF_ERROR(write_class_with_methods(name));
    if (parts.threads) {
      JTRACE_RETURN_IF_ERROR(inspection_.healthy());
      std::optional<OwnedLocks> owned;
      if (parts.owned) owned.emplace(inspection_, options_.max_stop);
      JTRACE_ASSIGN_OR_RETURN(const ThreadSnapshot snapshot,
                              take_thread_snapshot(inspection_, {.max_stop = options_.max_stop}));
      JTRACE_RETURN_IF_ERROR(write_threads(snapshot, parts.frames, parts.waits, owned ? &*owned : nullptr));
    }
    if (parts.class_totals) JTRACE_RETURN_IF_ERROR(write_class_totals());
    for (const std::string& address : parts.objects) JTRACE_RETURN_IF_ERROR(write_object(address));
    return parts.heap ? write_heap() : Result<>();
  }

  Result<> end_trace(std::uint64_t time) {
    time_ = trace::Time(time);
    if (mask_.count() > 0) JTRACE_RETURN_IF_ERROR(option(trace::kMaskedKey, std::to_string(mask_.count())));
    for (; missing_written_ < missing_.size(); ++missing_written_)
      JTRACE_RETURN_IF_ERROR(option(trace::kUnavailableKey, missing_[missing_written_]));
    return document_.end_trace(time);
  }
  Result<> end(std::uint64_t time) { return document_.end(time != 0 ? time : time_.ns()); }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  Result<> option(std::string_view key, std::string_view value) { return document_.write_option(key, value); }

  Result<> write_options() {
    for (const VmFlag& flag : inspection_.vm().flags())
      if (flag.origin != 0 || options_.all) JTRACE_RETURN_IF_ERROR(option("flag." + flag.name, mask_.flag(flag)));
    const auto properties = read_system_properties(inspection_.objects());
    if (!properties) {
      missing_.push_back(properties.error().with_context("system properties").message());
      return {};
    }
    for (const auto& [key, value] : properties->entries)
      JTRACE_RETURN_IF_ERROR(option("property." + key, mask_.property(key, value)));
    return {};
  }

  Result<> write_arguments() {
    const auto command = inspection_.vm().read_static_text("Arguments", "_java_command");
    if (!command) {
      missing_.push_back(command.error().message());
      return {};
    }
    return option("java_command", mask_.command(*command));
  }

  Result<> write_counters() {
    const auto snapshot = read_counters(inspection_.vm());
    if (!snapshot) {
      missing_.push_back(snapshot.error().message());
      return {};
    }
    const perfdata::CounterTable table(*snapshot, {}, false);
    for (const perfdata::Row& row : table.rows()) {
      const bool text = row.counter->kind == perfdata::ValueKind::kText;
      const std::string value = text ? table.text_value(*snapshot, row, options_.show_secrets)
                                     : std::to_string(snapshot->long_value(*row.counter));
      JTRACE_RETURN_IF_ERROR(document_.events().emit(trace::Value{
          .name = row.counter->name, .objIdRef = ObjectId::none(), .type = text ? "STRING" : "LONG", .value = value}));
    }
    return {};
  }

  Result<> write_classes() {
    bool incomplete = false;
    JTRACE_ASSIGN_OR_RETURN(const auto classes, inspection_.classes().all(&incomplete));
    for (Address klass : classes) JTRACE_RETURN_IF_ERROR(need_class(klass));
    if (incomplete) missing_.push_back("a list of classes could not be read to its end");
    return {};
  }

  Result<> write_class_with_methods(const std::string& name) {
    JTRACE_ASSIGN_OR_RETURN(const auto classes, named_classes(inspection_, name));
    for (Address klass : classes) {
      JTRACE_RETURN_IF_ERROR(need_class(klass));
      const auto methods = inspection_.classes().methods(klass);
      for (Address address : methods ? *methods : std::vector<Address>())
        if (const auto method = inspection_.methods().method(address)) JTRACE_RETURN_IF_ERROR(need_method(**method));
    }
    return {};
  }

  // Writes the classDef, unless it was written before.
  Result<> need_class(Address klass) {
    const auto [id, is_new] = classes_.of(klass);
    if (!is_new) return {};
    const ClassDefinition definition = read_class_definition(inspection_, loaders_, klass);
    if (definition.nameless) missing_.push_back(definition.nameless->with_context("a class").message());
    trace::ClassDef element = definition.element();
    element.time = time_;
    element.classId = element.transientClassId = id;
    return document_.events().emit(element);
  }

  Result<> need_method(const JavaMethod& method) {
    JTRACE_RETURN_IF_ERROR(need_class(method.holder));
    const auto [id, is_new] = methods_.of(method.address);
    if (!is_new) return {};
    trace::MethodDef definition{.name = method.name,
                                .signature = method.signature,
                                .visibility = trace::access_word(method.access),
                                .isNative = (method.access & trace::kNative) != 0,
                                .isAbstract = (method.access & trace::kAbstract) != 0,
                                .isStatic = (method.access & trace::kStatic) != 0,
                                .isSynchronized = (method.access & trace::kSynchronized) != 0,
                                .exceptions = "",
                                .signitureNotation = "JNI",
                                .classIdRef = classes_.of(method.holder).first,
                                .methodId = id};
    if (!method.lines.empty()) {
      const auto [least, most] = std::minmax_element(method.lines.begin(), method.lines.end(),
                                                     [](const auto& a, const auto& b) { return a.second < b.second; });
      definition.startLineNumber = static_cast<std::uint64_t>(std::max(least->second, 0));
      definition.endLineNumber = static_cast<std::uint64_t>(std::max(most->second, 0));
    }
    return document_.events().emit(definition);
  }

  static ThreadId thread_id(const ThreadReport& report) { return thread_id(report.java, report.native_id); }
  static ThreadId thread_id(const LockFacts::Party& party) {
    return party.java ? thread_id(*party.java, party.java->native_id) : thread_id(*party.virtual_thread);
  }
  static ThreadId thread_id(const JavaThread& java, pid_t native_id) {
    if (java.object != 0 && java.id > 0) return ThreadId(static_cast<std::uint64_t>(java.id));
    return ThreadId(trace::kVmThreadBase + static_cast<std::uint64_t>(std::max(native_id, 0)));
  }

  Result<> need_thread(ThreadId id, const std::string& name, pid_t native_id, Address object) {
    if (!threads_.insert(id.value()).second) return {};
    const std::string group = object == 0 ? "" : thread_group_name(inspection_.objects(), object);
    const auto transient =
        native_id > 0 ? trace::TransientThreadId(static_cast<std::uint64_t>(native_id)) : trace::TransientThreadId();
    return document_.events().emit(trace::ThreadStart{.transientThreadId = transient,
                                                      .threadId = id,
                                                      .time = time_,
                                                      .groupName = group.empty() ? trace::Text() : trace::Text(group),
                                                      .objIdRef = ObjectId::none(),
                                                      .threadName = name});
  }
  static ThreadId thread_id(const VirtualThread& thread) { return ThreadId(static_cast<std::uint64_t>(thread.id)); }

 public:
  Result<> write_threads(const ThreadSnapshot& snapshot, bool frames, bool waits, OwnedLocks* owned = nullptr) {
    missing_.insert(missing_.end(), snapshot.missing.begin(), snapshot.missing.end());
    for (const ThreadReport& report : snapshot.threads)
      JTRACE_RETURN_IF_ERROR(need_thread(thread_id(report), report.java.address ? report.java.name : report.name,
                                         report.native_id, report.java.object));
    for (const VirtualThread& thread : snapshot.virtual_threads)
      JTRACE_RETURN_IF_ERROR(need_thread(thread_id(thread), thread.name, 0, 0));
    if (frames) {
      for (const ThreadReport& report : snapshot.threads)
        JTRACE_RETURN_IF_ERROR(write_stack(thread_id(report), report.walk));
      for (const VirtualThread& thread : snapshot.virtual_threads)
        JTRACE_RETURN_IF_ERROR(write_stack(thread_id(thread), thread.walk));
    }
    if (!waits) return {};
    const LockFacts locks(inspection_, snapshot);
    // Before the waits, because having entered a monitor ends a wait.
    if (owned) JTRACE_RETURN_IF_ERROR(write_owned(locks, *owned));
    for (const LockFacts::Party& each : locks.parties())
      if (const Wait* wait = locks.wait_of(each.key)) JTRACE_RETURN_IF_ERROR(write_wait(locks, each, *wait));
    return {};
  }

 private:
  // From the outermost frame inwards; tickets count within the thread.
  Result<> write_stack(ThreadId thread, const Walk& walk) {
    std::uint64_t depth = 0;
    const bool any = std::any_of(walk.frames.begin(), walk.frames.end(), [](const Frame& f) { return f.method; });
    if (walk.incomplete() && any) JTRACE_RETURN_IF_ERROR(option(trace::kCutStackKey, std::to_string(thread.value())));
    for (auto frame = walk.frames.rbegin(); frame != walk.frames.rend(); ++frame) {
      if (!frame->method) continue;
      JTRACE_RETURN_IF_ERROR(need_method(*frame->method));
      ++depth;
      JTRACE_RETURN_IF_ERROR(
          document_.events().emit(trace::MethodEntry{.threadIdRef = thread,
                                                     .time = time_,
                                                     .methodIdRef = methods_.of(frame->method->address).first,
                                                     .ticket = depth,
                                                     .classIdRef = classes_.of(frame->method->holder).first,
                                                     .stackDepth = depth}));
    }
    return {};
  }

  // Writes the objDef, unless it was written before. An array of objects has the class of its elements.
  Result<ObjectId> need_object(Address object) {
    if (object == 0) return ObjectId::none();
    const auto [id, is_new] = objects_.of(object);
    if (!is_new) return id;
    trace::ObjDef definition{.objId = id, .isArray = 0};
    if (const auto klass = inspection_.objects().klass_of(object);
        klass && inspection_.classes().internal_name(*klass)) {
      JTRACE_RETURN_IF_ERROR(need_class(*klass));
      definition.classIdRef = classes_.of(*klass).first;
      const auto helper = inspection_.classes().layout_helper(*klass).value_or(0);
      if (helper < 0) definition.isArray = array_kind(helper);
      if (helper < 0) definition.size = array_size(object, helper);
      else if (helper > 0) definition.size = static_cast<std::uint64_t>(helper & ~7);
    }
    JTRACE_RETURN_IF_ERROR(document_.events().emit(definition));
    return id;
  }
  // Bits 16 to 23 of a layout helper are the bytes before the elements, bits 0 to 5 the log2 of an element's size.
  std::uint64_t array_size(Address array, std::int32_t helper) const {
    const auto bits = static_cast<std::uint32_t>(helper);
    const std::uint64_t length = inspection_.objects().array_length(array).value_or(std::uint32_t{0});
    const std::uint64_t alignment = object_alignment(inspection_.vm());
    return ((bits >> 16 & 0xff) + (length << (bits & 0x3f)) + alignment - 1) & ~(alignment - 1);
  }
  // Bits 8 to 15 of a layout helper: the BasicType of the elements; 12 is an object (globalDefinitions.hpp).
  static std::uint64_t array_kind(std::int32_t helper) {
    const auto type = static_cast<std::uint32_t>(helper) >> 8 & 0xff;
    return type >= 4 && type <= 11 ? type : 2;
  }

  Result<> write_wait(const LockFacts& locks, const LockFacts::Party& waiter, const Wait& wait) {
    if (wait.kind == "park") return {};
    JTRACE_ASSIGN_OR_RETURN(const ObjectId object, need_object(wait.object));
    if (wait.kind == "wait" || wait.kind == "initialisation")
      return document_.events().emit(
          trace::MonWait{.threadIdRef = thread_id(waiter), .time = time_, .objIdRef = object});
    trace::MonContendedEnter enter{.threadIdRef = thread_id(waiter), .time = time_, .objIdRef = object};
    if (const LockFacts::Party* owner = locks.party(wait.owner_thread)) enter.threadOwner = thread_id(*owner);
    return document_.events().emit(enter);
  }

  // A thread has entered the monitors that it holds.
  Result<> write_owned(const LockFacts& locks, OwnedLocks& owned) {
    owned.settle(locks);
    for (const LockFacts::Party& each : locks.parties())
      for (const OwnedLock* lock : owned.of(each.object)) {
        JTRACE_ASSIGN_OR_RETURN(const ObjectId object, need_object(lock->object));
        JTRACE_RETURN_IF_ERROR(document_.events().emit(
            trace::MonContendedEntered{.threadIdRef = thread_id(each), .time = time_, .objIdRef = object}));
      }
    return owned.why().empty() ? Result<>() : option(trace::kUnavailableKey, "owned locks: " + owned.why());
  }

  // Walks the heap and writes a value for each class, after the definition of the class.
  Result<> write_class_totals() {
    JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection_, options_, false));
    JTRACE_ASSIGN_OR_RETURN(const HistogramTable table, take_histogram_table(*access, options_.heap));
    for (const std::string& line : access->missing()) missing_.push_back(line);
    for (const std::string& line : faults_of(table)) missing_.push_back(line);
    objects_in_heap_ = table.totals.objects;
    for (const HistogramRow& row : table.rows) {
      JTRACE_RETURN_IF_ERROR(need_class(row.klass));
      const auto name = inspection_.classes().internal_name(row.klass);
      const std::string text = name ? utf8_from_modified(*name) : "?";
      const std::string bytes = std::to_string(row.count.bytes);
      const std::string format = "histogram instances=" + std::to_string(row.count.instances) +
                                 " classId=" + std::to_string(classes_.of(row.klass).first.value());
      JTRACE_RETURN_IF_ERROR(document_.events().emit(trace::Value{
          .name = text, .objIdRef = ObjectId::none(), .serializationFormat = format, .type = "LONG", .value = bytes}));
    }
    return {};
  }

  Result<> write_object(const std::string& text) {
    const auto address = parse_address(text);
    if (!address) return fail(ErrorCategory::kUsage, "not an address: " + text, "hexadecimal, with or without 0x");
    const auto klass = inspection_.objects().klass_of(*address);
    if (!klass || !inspection_.classes().internal_name(*klass))
      return fail(ErrorCategory::kNotFound, "there is no object at " + text);
    JTRACE_RETURN_IF_ERROR(need_object(*address));
    return {};
  }

  Result<> write_heap() {
    const auto counters = read_counters(inspection_.vm());
    if (!counters) {
      missing_.push_back(counters.error().with_context("the heap's figures").message());
      return {};
    }
    const perfdata::HeapUse heap = perfdata::heap_use(*counters);
    trace::GcFinish figures{.time = time_, .totalObjectSpace = heap.capacity, .usedObjectSpace = heap.used};
    if (objects_in_heap_) figures.usedObjects = *objects_in_heap_;
    return document_.events().emit(figures);
  }

  Inspection& inspection_;
  trace::TraceDocument document_;
  const SnapshotIdentity identity_;
  const ViewOptions options_;
  SecretMask mask_;
  Loaders loaders_;
  trace::Time time_;
  Numbers<ClassId> classes_;
  Numbers<MethodId> methods_;
  Numbers<ObjectId> objects_;
  std::optional<std::uint64_t> objects_in_heap_;  // from a walk
  std::set<std::uint64_t> threads_;               // those that were defined
  std::vector<std::string> missing_;
  std::size_t missing_written_ = 0;  // of `missing_`, in the trace
};

SnapshotEvents::SnapshotEvents(Inspection& inspection, trace::EventSink& sink, SnapshotIdentity identity,
                               ViewOptions options, bool several)
    : impl_(std::make_unique<Impl>(inspection, sink, std::move(identity), std::move(options), several)) {}
SnapshotEvents::~SnapshotEvents() = default;
Result<> SnapshotEvents::begin() { return impl_->begin(); }
Result<> SnapshotEvents::start_trace(std::uint64_t time) { return impl_->start_trace(time); }
Result<> SnapshotEvents::write(const SnapshotParts& parts) { return impl_->write(parts); }
Result<> SnapshotEvents::write_threads(const ThreadSnapshot& snapshot, bool frames, bool waits) {
  return impl_->write_threads(snapshot, frames, waits);
}
Result<> SnapshotEvents::end_trace(std::uint64_t time) { return impl_->end_trace(time); }
Result<> SnapshotEvents::end(std::uint64_t time) { return impl_->end(time); }
const std::vector<std::string>& SnapshotEvents::missing() const { return impl_->missing(); }

std::string vm_key(const Inspection& inspection) {
  const auto counters = read_counters(inspection.vm());
  const auto begin = counters ? counters->long_value("sun.rt.createVmBeginTime") : std::nullopt;
  if (!begin) return {};
  return "pid=" + std::to_string(inspection.target().nspid()) + ",createVmBeginTime=" + std::to_string(*begin);
}

SnapshotIdentity identify_target(const Inspection& inspection) {
  SnapshotIdentity identity;
  identity.agent_id = random_uuid();
  identity.agent_name = "jtrace inspect";
  identity.agent_version = JTRACE_VERSION;
  const auto counters = read_counters(inspection.vm());
  const auto begin = (counters ? counters->long_value("sun.rt.createVmBeginTime") : std::nullopt).value_or(0);
  const std::string source = inspection.target().libjvm().build_id() + ":" +
                             std::to_string(inspection.target().nspid()) + ":" + std::to_string(begin);
  identity.node_id = name_based_uuid("node:" + source);
  identity.process_id = name_based_uuid("process:" + source);
  identity.process_time = static_cast<std::uint64_t>(begin) * 1'000'000;
  identity.pid = std::max(inspection.target().nspid(), 0);
  const std::string command = inspection.vm().read_static_text("Arguments", "_java_command").value_or("");
  identity.executable = mask_secrets(command);
  identity.process_name = command.substr(0, command.find(' '));
  // The tick counter is written about twenty times a second (PerfDataSamplingInterval): the best approximation of the
  // core's time.
  const auto ticks = counters ? counters->long_value("sun.os.hrt.ticks") : std::nullopt;
  const auto frequency = counters ? counters->long_value("sun.os.hrt.frequency") : std::nullopt;
  identity.time = identity.process_time;
  if (!inspection.target().core()) identity.time = realtime_ns();
  else if (ticks && frequency && *frequency > 0 && *ticks > 0)
    identity.time += static_cast<std::uint64_t>(static_cast<double>(*ticks) / static_cast<double>(*frequency) * 1e9);
  return identity;
}

Result<std::vector<std::string>> write_snapshot_events(Inspection& inspection, trace::EventSink& sink,
                                                       const SnapshotIdentity& identity, const SnapshotParts& parts,
                                                       const ViewOptions& options) {
  SnapshotEvents events(inspection, sink, identity, options);
  JTRACE_RETURN_IF_ERROR(events.begin());
  JTRACE_RETURN_IF_ERROR(events.start_trace(identity.time));
  JTRACE_RETURN_IF_ERROR(events.write(parts));
  JTRACE_RETURN_IF_ERROR(events.end_trace(identity.time));
  JTRACE_RETURN_IF_ERROR(events.end());
  return events.missing();
}

}  // namespace jtrace::coreinspect
