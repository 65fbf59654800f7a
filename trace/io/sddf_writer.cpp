// Writes events as SDDF ASCII. docs/formats.md has the mapping table.
#include <cstdio>
#include <set>
#include <tuple>
#include <utility>

#include "trace/io/converter.h"
#include "trace/io/scopes.h"
#include "trace/io/sddf_format.h"
#include "trace/option_keys.h"
#include "trace/record/event_names.h"
#include "trace/record/start_options.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {
namespace {

// The value of jtrace.unavailable in a document that has what SDDF has no records for: it was recorded, and is not 0.
constexpr std::string_view kNotCarried =
    "methods, calls, lines, exceptions, objects, allocations: an SDDF file does not have them";

constexpr std::uint64_t kMaxInt = 0x7fffffff;
constexpr std::uint64_t kNanos = 1'000'000'000;
// First number of threads whose id does not fit an int; their threadName record has the real id.
constexpr std::uint64_t kFirstMadeUp = 1'000'000'000;
constexpr std::uint64_t kDataMessage = 87;  // EdenTV's tag of a message with data
constexpr std::size_t kMaxCalls = 100'000;  // methodCalls whose callee may still come

// Elements without an SDDF record, carried as XML in a Generic Trace.
template <class Element>
constexpr bool kAsText = false;
template <>
constexpr bool kAsText<AgentCreate> = true;
template <>
constexpr bool kAsText<TraceStart> = true;
template <>
constexpr bool kAsText<TraceEnd> = true;
template <>
constexpr bool kAsText<Value> = true;
template <>
constexpr bool kAsText<Filter> = true;
template <>
constexpr bool kAsText<RuntimeInitDone> = true;
template <>
constexpr bool kAsText<RuntimeShutdown> = true;

class SddfWriter final : public Converter {
 public:
  explicit SddfWriter(ByteSink& bytes) : bytes_(bytes) {}

  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    const Common common = common_of(event);
    if (common.time.present()) time_ = common.time.ns();
    if (!begun_) put_text(sddf_head());
    begun_ = true;
    write_trace_text(event, common, scope);
    lose_attributes<kCarried>(event);
    std::visit([&](const auto& element) { put(element, scope, event); }, event);
    return result_;
  }
  Result<> finish() override {
    if (!begun_) put_text(sddf_head());
    for (const auto& [node, machine] : machines_) record("End Machine", machine);
    for (const auto& [key, text] : definitions_) ++lost_[std::get<1>(key) ? "classDef" : "methodDef"];
    Result<> finished = bytes_.finish();
    return result_ ? std::move(finished) : result_;
  }

 private:
  // Elements without a row are carried whole, as text, or not at all.
  static constexpr Carried kCarried[] = {{"node", "nodeId hostname time"},
                                         {"processCreate", "processId name pid nodeIdRef time"},
                                         {"option", "key value traceIdRef"},
                                         {"threadStart", "threadId time threadName traceIdRef"},
                                         {"threadEnd", "threadIdRef time traceIdRef"},
                                         {"monContendedEnter", "threadIdRef time objIdRef threadOwner traceIdRef"},
                                         {"monContendedEntered", "threadIdRef time traceIdRef"},
                                         {"monWait", "threadIdRef time objIdRef timeout traceIdRef"},
                                         {"monWaited", "threadIdRef time timeout traceIdRef"},
                                         {"gcStart", "time traceIdRef"},
                                         {"gcFinish", "time totalObjectSpace usedObjectSpace traceIdRef"},
                                         {"methodCount", "count methodIdRef traceIdRef"}};
  // -- values
  void put_text(const std::string& text) {
    if (result_) result_ = bytes_.write(text);
  }
  static std::string quoted(std::string_view text) {
    std::string out = "[" + std::to_string(text.size()) + "] { \"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\" }";
  }
  static std::string stamp(std::uint64_t ns) {
    return "[2] { " + std::to_string(ns / kNanos) + ", " + std::to_string(ns % kNanos) + " }";
  }
  static std::string seconds(std::uint64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%llu.%09llu", static_cast<unsigned long long>(ns / kNanos),
                  static_cast<unsigned long long>(ns % kNanos));
    return text;
  }
  void record(std::string_view name, std::uint64_t machine, const std::string& rest = {}) {
    if (base_ == 0) base_ = time_;
    int tag = 0;
    for (const SddfDescriptor& each : sddf_descriptors())
      if (each.name == name) tag = each.tag;
    put_text("\"" + std::string(name) + "\" { " + stamp(time_) + ", " + seconds(time_ > base_ ? time_ - base_ : 0) +
             ", " + std::to_string(tag) + ", " + std::to_string(machine) + rest + " };;\n");
  }
  static std::string list(std::initializer_list<std::uint64_t> numbers) {
    std::string out;
    for (const std::uint64_t number : numbers) out += ", " + std::to_string(number);
    return out;
  }
  void write_note(const Scope& scope, const std::string& text) {
    record("Generic Trace", machine_of(scope.node_id), ", " + quoted(text));
  }
  std::string element_text(const Event& event) {
    element_.clear();
    if (!element_writer_.write(event) || !element_.flush() || element_.text().empty()) return {};
    return element_.text().substr(0, element_.text().size() - 1);  // without its newline
  }
  void write_as_text(const Scope& scope, const Event& event) { write_note(scope, element_text(event)); }
  // Records do not say which trace they belong to. A Generic Trace records when it changes.
  void write_trace_text(const Event& event, const Common& common, const Scope& scope) {
    if (const auto* start = std::get_if<TraceStart>(&event)) {
      noted_trace_ = start->traceId.view();
      return;
    }
    if (!common.trace_id.present() || common.trace_id.view() == noted_trace_ || !is_carried(event)) return;
    noted_trace_ = common.trace_id.view();
    write_note(scope, "trace " + noted_trace_);
  }
  static bool is_carried(const Event& event) {
    switch (element_kind(event)) {
      case ElementKind::kClassDef:
      case ElementKind::kClassUnload:
      case ElementKind::kMethodDef:
      case ElementKind::kMethodEntry:
      case ElementKind::kMethodExit:
      case ElementKind::kMethodCall:
      case ElementKind::kMethodReturn:
      case ElementKind::kInvocationContext:
      case ElementKind::kLine:
      case ElementKind::kObjAlloc:
      case ElementKind::kObjDef:
      case ElementKind::kObjFree:
      case ElementKind::kObjMove:
      case ElementKind::kThrow:
      case ElementKind::kCatch: return false;
      default: return true;
    }
  }

  // -- dense numbers
  std::uint64_t machine_of(const std::string& node) {
    return machines_.try_emplace(node, machines_.size() + 1).first->second;
  }
  std::uint64_t process_of(const std::string& process) {
    return processes_.try_emplace(process, processes_.size() + 1).first->second;
  }
  std::uint64_t thread_of(const Scope& scope, std::uint64_t id) {
    if (id <= kMaxInt && id < kFirstMadeUp) return id;
    return threads_.try_emplace({scope.index, id}, kFirstMadeUp + threads_.size()).first->second;
  }
  void of_thread(std::string_view name, const Scope& scope, ThreadId thread, const std::string& rest = {}) {
    record(name, machine_of(scope.node_id),
           list({process_of(scope.process_id), thread_of(scope, thread.present() ? thread.value() : 0)}) + rest);
  }

  // -- elements
  template <class Element>
  void put(const Element&, const Scope& scope, const Event& event) {
    if constexpr (kAsText<Element>) write_as_text(scope, event);
    else lose(event);
  }
  void put(const Node& node, const Scope&, const Event&) {
    const std::string id(node.nodeId.view());
    if (machines_.count(id) == 0) record("Start Machine", machine_of(id));
  }
  void put(const ProcessCreate& process, const Scope&, const Event&) {
    const std::string id(process.processId.view()), node(process.nodeIdRef.view());
    if (processes_.count(id) != 0) return;
    const std::uint64_t machine = machine_of(node), number = process_of(id);
    record("New Process", machine, list({number}));
    const auto info = scopes_.nodes().find(node);
    record("Label Process", machine,
           list({number}) + ", " +
               quoted(std::string(process.name.view()) + " pid=" + std::to_string(process.pid.value_or(0)) +
                      " processId=" + id + " nodeId=" + node +
                      " hostname=" + (info == scopes_.nodes().end() ? "" : info->second.hostname)));
  }
  // A process ends with its last agent.
  void put(const AgentDestroy& destroy, const Scope& scope, const Event& event) {
    write_as_text(scope, event);
    ended_agents_.insert(std::string(destroy.agentIdRef.view()));
    for (const auto& each : scopes_.all())
      if (each->process_id == scope.process_id && ended_agents_.count(each->agent_id) == 0) return;
    if (killed_.insert(scope.process_id).second)
      record("Kill Process", machine_of(scope.node_id), list({process_of(scope.process_id)}));
  }
  void put(const ProcessSuspend&, const Scope& scope, const Event& event) {
    write_as_text(scope, event);
    all_threads("Suspend Thread", scope);
  }
  void put(const ProcessResume&, const Scope& scope, const Event& event) {
    write_as_text(scope, event);
    all_threads("Run Thread", scope);
  }
  void all_threads(std::string_view name, const Scope& scope) {
    std::set<std::uint64_t> alive;
    for (const auto& [id, thread] : scope.threads)
      if (!thread.end.present()) alive.insert(id);
    for (const std::uint64_t id : alive) of_thread(name, scope, ThreadId(id));
  }
  // A call from another agent becomes a message, sent at the caller's methodCall, received at the entry.
  void put(const MethodCall& call, const Scope& scope, const Event& event) {
    lose(event);
    if (call.threadIdRef.present() && call.ticket.present() && calls_.size() < kMaxCalls)
      calls_.emplace(std::tuple(scope.agent_id, call.threadIdRef.value(), call.ticket.value()), time_);
  }
  void put(const MethodEntry& entry, const Scope& scope, const Event& event) {
    lose(event);
    const InvocationContext* from = entry.invocationContext;
    if (from == nullptr || !from->nodeIdRef.present() || !from->processIdRef.present()) return;
    const std::uint64_t sender = machine_of(std::string(from->nodeIdRef.view()));
    const std::uint64_t process = process_of(std::string(from->processIdRef.view()));
    const std::uint64_t out = from->ticket.value_or(0) & kMaxInt, in = entry.ticket.value_or(0) & kMaxInt;
    const std::uint64_t machine = machine_of(scope.node_id), own = process_of(scope.process_id);
    const auto call =
        calls_.find(std::tuple(std::string(from->agentIdRef.view()),
                               from->threadIdRef.present() ? from->threadIdRef.value() : 0, from->ticket.value_or(0)));
    if (call != calls_.end()) {
      const std::uint64_t now = std::exchange(time_, call->second);
      record("Send Message", sender, list({process, out, machine, own, in, kDataMessage}));
      time_ = now;
      calls_.erase(call);
    }
    record("Receive Message", machine, list({own, in, sender, process, out, kDataMessage, 0}));
  }
  void put(const Option& option, const Scope& scope, const Event&) {
    const std::string_view key = option.key.view(), value = option.value.view();
    if (key == kUnavailableKey && value == kNotCarried) return;  // of a document that came from SDDF
    write_note(scope, "option " + std::string(key) + " " + std::string(value));
    if (key == record::kEventsOption && (record::events_in(value) & record::events_lacking(kNotCarried)) != 0)
      write_note(scope, "option " + std::string(kUnavailableKey) + " " + std::string(kNotCarried));
  }
  void put(const ThreadStart& start, const Scope& scope, const Event&) {
    const std::uint64_t id = start.threadId.present() ? start.threadId.value() : 0;
    of_thread("New Thread", scope, start.threadId, ", 0");
    write_note(scope, "threadName " + std::to_string(process_of(scope.process_id)) + " " +
                          std::to_string(thread_of(scope, id)) + " " + std::to_string(id) + " " +
                          std::string(start.threadName.view()));
    of_thread("Run Thread", scope, start.threadId);
  }
  void put(const ThreadEnd& end, const Scope& scope, const Event&) { of_thread("Kill Thread", scope, end.threadIdRef); }
  void block(const Scope& scope, ThreadId thread, ObjectId object, BlockReason reason) {
    const bool fits = object.present() && object.is_number() && object.value() <= kMaxInt;
    of_thread("Block Thread", scope, thread, list({fits ? object.value() : 0, static_cast<std::uint64_t>(reason)}));
  }
  void deblock(const Scope& scope, ThreadId thread) {
    of_thread("Deblock Thread", scope, thread);
    of_thread("Run Thread", scope, thread);
  }
  // What a record has no field for is written before it.
  void with(const Scope& scope, const char* name, std::uint64_t value) {
    write_note(scope, std::string(name) + " " + std::to_string(value));
  }
  void put(const MonContendedEnter& enter, const Scope& scope, const Event&) {
    if (enter.threadOwner.present()) with(scope, "threadOwner", enter.threadOwner.value());
    block(scope, enter.threadIdRef, enter.objIdRef, BlockReason::kMonitor);
  }
  void put(const MonWait& wait, const Scope& scope, const Event&) {
    if (wait.timeout.present()) with(scope, "timeout", wait.timeout.value());
    block(scope, wait.threadIdRef, wait.objIdRef,
          wait.objIdRef == ObjectId::sleep() ? BlockReason::kSleep : BlockReason::kWait);
  }
  void put(const MonContendedEntered& entered, const Scope& scope, const Event&) {
    deblock(scope, entered.threadIdRef);
  }
  void put(const MonWaited& waited, const Scope& scope, const Event&) {
    if (waited.timeout.present()) with(scope, "timeout", waited.timeout.value());
    deblock(scope, waited.threadIdRef);
  }
  void put(const GcStart& start, const Scope& scope, const Event&) {
    gc_start_[scope.index] = start.time.value_or(time_);
  }
  void put(const GcFinish& finish, const Scope& scope, const Event&) {
    const std::uint64_t machine = machine_of(scope.node_id);
    const std::uint64_t used = finish.usedObjectSpace.value_or(0);
    if (finish.totalObjectSpace.present())
      write_note(scope, "gcTotal " + std::to_string(finish.totalObjectSpace.value()));
    if (const std::uint64_t start = gc_start_[scope.index]; start != 0) {
      const std::uint64_t duration = time_ > start ? time_ - start : 0;
      record("Generic Interval", machine, ", " + seconds(duration) + ", " + stamp(duration));
    }
    // The events do not have the size before the collection: it is set equal to that after it, nothing collected.
    record("GC done", machine, list({0, used, 0, used}));
    gc_start_.erase(scope.index);
  }
  // No record holds a definition. Definitions that a methodCount refers to are written before it as text, without what
  // they refer to themselves (which may be gone) and without a collationValue.
  template <class Definition>
  void keep(const Scope& scope, bool is_class, std::uint64_t id, Definition definition, const Event& event) {
    const DefinitionKey key(scope.index, is_class, id);
    if (written_keys_.count(key) != 0) return lose(event);
    definition.collationValue = {};
    definition.traceIdRef = {};
    if constexpr (requires { definition.threadIdRef; }) definition.threadIdRef = {};
    if constexpr (requires { definition.transientThreadIdRef; }) definition.transientThreadIdRef = {};
    const auto [at, fresh] = definitions_.insert_or_assign(key, element_text(definition));
    if (!fresh) lose(event);
  }
  void put(const ClassDef& definition, const Scope& scope, const Event& event) {
    if (!definition.classId.present()) return lose(event);
    keep(scope, true, definition.classId.value(), definition, event);
  }
  void put(const MethodDef& definition, const Scope& scope, const Event& event) {
    if (!definition.methodId.present()) return lose(event);
    keep(scope, false, definition.methodId.value(), definition, event);
  }
  void define(const Scope& scope, bool is_class, std::uint64_t id) {
    const auto kept = definitions_.find(DefinitionKey(scope.index, is_class, id));
    if (kept == definitions_.end()) return;
    write_note(scope, kept->second);
    written_keys_.insert(kept->first);
    definitions_.erase(kept);
  }
  void put(const MethodCount& count, const Scope& scope, const Event&) {
    if (count.methodIdRef.present()) {
      const auto info = scope.methods.find(count.methodIdRef.value());
      if (info != scope.methods.end()) define(scope, true, info->second.class_id);
      define(scope, false, count.methodIdRef.value());
    }
    const std::uint64_t value = count.count.value_or(0);
    const std::string method = std::to_string(count.methodIdRef.present() ? count.methodIdRef.value() : 0);
    // An int has 32 bits: larger numbers are written as text, none is truncated.
    if (value > kMaxInt) return write_note(scope, "methodCount " + method + " " + std::to_string(value));
    write_note(scope, "counter " + method);
    record("Generic Count", machine_of(scope.node_id), list({value}));
  }

  ByteSink& bytes_;
  Scopes scopes_;
  bool begun_ = false;
  Result<> result_;
  std::uint64_t time_ = 0, base_ = 0;
  MemorySink element_;  // the text of the last element_text()
  XmlWriter element_writer_{element_, {.form = XmlForm::kFragments}};
  std::map<std::size_t, std::uint64_t> gc_start_;  // start of the running pause, by scope
  std::string noted_trace_;
  std::map<std::string, std::uint64_t> machines_, processes_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> threads_;
  using DefinitionKey = std::tuple<std::size_t, bool, std::uint64_t>;  // scope, is a class, id
  std::map<DefinitionKey, std::string> definitions_;                   // as text, not yet written
  std::set<DefinitionKey> written_keys_;
  std::set<std::string> killed_, ended_agents_;
  // Agent, thread, ticket -> time.
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::uint64_t> calls_;
};

}  // namespace

std::unique_ptr<Converter> make_sddf_writer(ByteSink& bytes) { return std::make_unique<SddfWriter>(bytes); }

}  // namespace jtrace::trace::io
