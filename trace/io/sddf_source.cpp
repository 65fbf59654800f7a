// Reads SDDF records as events. docs/formats.md has the mapping table.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/strings.h"
#include "base/uuid.h"
#include "trace/io/sddf_format.h"
#include "trace/io/sddf_reader.h"
#include "trace/io/xml_source.h"

namespace jtrace::trace::io {
namespace {

class SddfSource final : public EventSource {
 public:
  SddfSource(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults)
      : reader_(std::move(bytes), name), name_(std::move(name)), faults_(faults) {}

  Result<ReadSummary> read(EventSink& sink) override {
    sink_ = &sink;
    JTRACE_RETURN_IF_ERROR(reader_.begin());
    for (;;) {
      const auto record = reader_.next();
      if (!record && (summary_.elements == 0 || !reader_.is_at_end())) return fail(record.error());
      summary_.truncated = !record;  // within it
      if (!record || !*record) break;
      JTRACE_RETURN_IF_ERROR(take(**record));
    }
    for (const auto& [key, process] : processes_)
      if (!process.ended) JTRACE_RETURN_IF_ERROR(end(key));
    return summary_;
  }
  Position position() const override { return reader_.position(); }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // machine, process
  struct Process {
    std::string node_id, process_id, agent_id, trace_id, name, hostname;
    std::uint64_t pid = 0;
    Time created;
    bool started = false;  // node and processCreate
    bool traced = false;   // has an agent and a trace, its own or made up
    bool made_up = false;  // ... made up
    bool ended = false;
    std::map<std::int64_t, std::uint64_t> threads;  // SDDF's number -> threadId
    std::map<std::int64_t, std::int64_t> blocked;   // thread -> reason
    std::map<std::int64_t, ObjectId> waits_on;
    std::map<std::int64_t, ThreadStart> fresh;  // not yet named
  };

  template <class Element>
  Result<> emit(const Element& element) {
    ++summary_.elements;
    return sink_->write(element);
  }
  std::string uuid(std::string_view what, std::int64_t machine, std::int64_t process = 0) const {
    return name_based_uuid("sddf " + name_ + " " + std::string(what) + " " + std::to_string(machine) + " " +
                           std::to_string(process));
  }
  Result<> unmapped(const SddfRecord& record) {
    return faults_.add(name_, position(), "unmapped record", record.name,
                       "record \"" + record.name + "\" has no meaning here");
  }

  Result<> take(const SddfRecord& record) {
    const auto& v = record.values;
    // The first fields of every EdenTV record: time stamp, seconds, event, machine.
    if (v.size() < 4 || v[0].numbers.size() != 2 || v[0].numbers[0] < 0 || v[0].numbers[1] < 0) return unmapped(record);
    time_ = static_cast<std::uint64_t>(v[0].numbers[0]) * 1'000'000'000 + static_cast<std::uint64_t>(v[0].numbers[1]);
    machine_ = v[3].number;
    const std::string& name = record.name;
    if (name == "Start Machine") {
      machine_start_.try_emplace(machine_, Time(time_));
      return {};
    }
    if (name == "End Machine") return end_machine();
    if (name == "Generic Interval" || name == "Generic Trace" || name == "Generic Count") return take_generic(record);
    if (name == "GC done" && v.size() == 8) return take_gc(record);
    if (v.size() < 5) return unmapped(record);
    return take_of_process(record);
  }

  Result<> take_of_process(const SddfRecord& record) {
    const auto& v = record.values;
    const std::string& name = record.name;
    const Key key(machine_, v[4].number);
    Process& process = processes_[key];
    if (name == "New Process") {
      process.created = Time(time_);
      return {};
    }
    if (name == "Label Process" && v.size() == 6) {
      read_label(process, v[5].text);
      return create(key);
    }
    if (name == "Kill Process") {
      JTRACE_RETURN_IF_ERROR(create(key));
      return end(key);
    }
    JTRACE_RETURN_IF_ERROR(need(key));
    if (v.size() < 6) return unmapped(record);
    const std::int64_t thread = v[5].number;
    if (name == "New Thread") {
      process.fresh[thread] = ThreadStart{.threadId = ThreadId(id_of(process, thread)), .time = Time(time_)};
      return {};
    }
    JTRACE_RETURN_IF_ERROR(start_thread(process, thread, {}));
    const ThreadId id(id_of(process, thread));
    if (name == "Run Thread" || name == "Suspend Thread") return {};  // a Java trace has no element for these
    if (name == "Kill Thread")
      return emit(ThreadEnd{.threadIdRef = id, .time = Time(time_), .traceIdRef = process.trace_id});
    if (name == "Block Thread" && v.size() == 8) return block(process, thread, v[6].number, v[7].number);
    if (name == "Deblock Thread") return deblock(process, thread);
    return unmapped(record);
  }

  // "NAME pid=N processId=UUID nodeId=UUID hostname=NAME", or any text.
  static void read_label(Process& process, std::string_view label) {
    const std::size_t pid = label.rfind(" pid=");
    process.name = label.substr(0, pid);
    if (pid == std::string_view::npos) return;
    for (const std::string_view word : split(label.substr(pid + 1), ' ')) {
      const std::string_view value = word.substr(std::min(word.find('=') + 1, word.size()));
      if (word.starts_with("pid=")) process.pid = parse_decimal<std::uint64_t>(value).value_or(0);
      if (word.starts_with("processId=")) process.process_id = value;
      if (word.starts_with("nodeId=")) process.node_id = value;
      if (word.starts_with("hostname=")) process.hostname = value;
    }
  }

  // Writes node and processCreate, once for each process.
  Result<> create(const Key& key) {
    Process& process = processes_[key];
    if (std::exchange(process.started, true)) return {};
    if (process.node_id.empty()) process.node_id = uuid("node", key.first);
    if (process.process_id.empty()) process.process_id = uuid("process", key.first, key.second);
    keys_.try_emplace(process.process_id, key);
    if (!process.created.present()) process.created = Time(time_);
    if (nodes_.insert(process.node_id).second)
      JTRACE_RETURN_IF_ERROR(emit(Node{.nodeId = process.node_id,
                                       .hostname = process.hostname,
                                       .ipaddress = "",
                                       .time = machine_start_[key.first]}));
    return emit(ProcessCreate{.processId = process.process_id,
                              .name = process.name,
                              .pid = process.pid,
                              .nodeIdRef = process.node_id,
                              .time = process.created});
  }
  // Writes the process, and an agent and a trace for it: those that the file names, otherwise made-up ones.
  Result<> need(const Key& key) {
    JTRACE_RETURN_IF_ERROR(create(key));
    Process& process = processes_[key];
    if (std::exchange(process.traced, true)) return {};
    process.made_up = true;
    process.agent_id = uuid("agent", key.first, key.second);
    process.trace_id = uuid("trace", key.first, key.second);
    JTRACE_RETURN_IF_ERROR(emit(AgentCreate{
        .agentId = process.agent_id, .processIdRef = process.process_id, .agentName = "sddf", .time = Time(time_)}));
    return emit(TraceStart{.traceId = process.trace_id, .agentIdRef = process.agent_id, .time = Time(time_)});
  }
  Result<> end(const Key& key) {
    Process& process = processes_[key];
    if (!process.started || std::exchange(process.ended, true)) return {};
    while (!process.fresh.empty()) JTRACE_RETURN_IF_ERROR(start_thread(process, process.fresh.begin()->first, {}));
    if (!process.made_up) return {};
    JTRACE_RETURN_IF_ERROR(emit(TraceEnd{.traceIdRef = process.trace_id, .time = Time(time_)}));
    return emit(AgentDestroy{.agentIdRef = process.agent_id, .time = Time(time_)});
  }
  Result<> end_machine() {
    for (auto& [key, process] : processes_)
      if (key.first == machine_) JTRACE_RETURN_IF_ERROR(end(key));
    return {};
  }

  static std::uint64_t id_of(const Process& process, std::int64_t thread) {
    const auto found = process.threads.find(thread);
    return found != process.threads.end() ? found->second
                                          : static_cast<std::uint64_t>(std::max<std::int64_t>(thread, 0));
  }
  Result<> start_thread(Process& process, std::int64_t thread, Text name) {
    const auto fresh = process.fresh.find(thread);
    if (fresh == process.fresh.end()) return {};
    ThreadStart start = fresh->second;
    start.threadId = ThreadId(id_of(process, thread));
    start.threadName = name;
    start.traceIdRef = process.trace_id;
    process.fresh.erase(fresh);
    return emit(start);
  }
  Result<> block(Process& process, std::int64_t thread, std::int64_t object, std::int64_t reason) {
    process.blocked[thread] = reason;
    const bool sleeps = reason == static_cast<std::int64_t>(BlockReason::kSleep);
    const ObjectId on =
        sleeps ? ObjectId::sleep() : ObjectId(static_cast<std::uint64_t>(std::max<std::int64_t>(object, 0)));
    process.waits_on[thread] = on;
    const ThreadId id(id_of(process, thread));
    if (reason == static_cast<std::int64_t>(BlockReason::kMonitor))
      return emit(MonContendedEnter{.threadIdRef = id,
                                    .time = Time(time_),
                                    .objIdRef = on,
                                    .threadOwner = std::exchange(owner_, ThreadId()),
                                    .traceIdRef = process.trace_id});
    return emit(MonWait{.threadIdRef = id,
                        .time = Time(time_),
                        .objIdRef = on,
                        .timeout = std::exchange(timeout_, Number()),
                        .traceIdRef = process.trace_id});
  }
  Result<> deblock(Process& process, std::int64_t thread) {
    const ThreadId id(id_of(process, thread));
    const auto found = process.blocked.find(thread);
    const bool monitor =
        found != process.blocked.end() && found->second == static_cast<std::int64_t>(BlockReason::kMonitor);
    const ObjectId on = process.waits_on[thread];
    if (found != process.blocked.end()) process.blocked.erase(found);
    if (monitor)
      return emit(
          MonContendedEntered{.threadIdRef = id, .time = Time(time_), .objIdRef = on, .traceIdRef = process.trace_id});
    return emit(MonWaited{.threadIdRef = id,
                          .time = Time(time_),
                          .objIdRef = on,
                          .timeout = std::exchange(timeout_, Number()),
                          .traceIdRef = process.trace_id});
  }

  // Records of a machine belong to the process whose trace was named last, otherwise to its first.
  Result<Process*> process_of_machine() {
    if (current_ && current_->first == machine_) {
      JTRACE_RETURN_IF_ERROR(need(*current_));
      return &processes_[*current_];
    }
    auto found = processes_.lower_bound(Key(machine_, std::numeric_limits<std::int64_t>::min()));
    if (found == processes_.end() || found->first.first != machine_)
      found = processes_.emplace(Key(machine_, 1), Process{}).first;
    JTRACE_RETURN_IF_ERROR(need(found->first));
    return &found->second;
  }
  Result<> take_gc(const SddfRecord& record) {
    JTRACE_ASSIGN_OR_RETURN(Process * process, process_of_machine());
    const std::uint64_t duration = std::min(interval_ && interval_time_ == time_ ? *interval_ : 0, time_);
    if (!interval_) faults_.note("GC done without its duration");
    interval_.reset();
    JTRACE_RETURN_IF_ERROR(emit(GcStart{.time = Time(time_ - duration), .traceIdRef = process->trace_id}));
    const auto used = static_cast<std::uint64_t>(std::max<std::int64_t>(record.values[7].number, 0));
    return emit(GcFinish{.time = Time(time_),
                         .totalObjectSpace = std::exchange(gc_total_, Number()),
                         .usedObjectSpace = used,
                         .traceIdRef = process->trace_id});
  }

  Result<> take_generic(const SddfRecord& record) {
    const auto& v = record.values;
    if (record.name == "Generic Interval" && v.size() == 6 && v[5].numbers.size() == 2) {
      interval_ =
          static_cast<std::uint64_t>(v[5].numbers[0]) * 1'000'000'000 + static_cast<std::uint64_t>(v[5].numbers[1]);
      interval_time_ = time_;
      return {};
    }
    if (v.size() != 5) return unmapped(record);
    if (record.name == "Generic Count") {
      if (!counter_) return unmapped(record);
      const std::uint64_t method = *std::exchange(counter_, std::nullopt);
      return count(method, static_cast<std::uint64_t>(std::max<std::int64_t>(v[4].number, 0)));
    }
    return take_text(record, v[4].text);
  }
  Result<> count(std::uint64_t method, std::uint64_t value) {
    JTRACE_ASSIGN_OR_RETURN(Process * process, process_of_machine());
    return emit(MethodCount{.count = value, .methodIdRef = MethodId(method), .traceIdRef = process->trace_id});
  }
  Result<> take_text(const SddfRecord& record, const std::string& text) {
    if (text.starts_with("<")) return take_element(text);
    const auto words = split(text, ' ');
    const auto number = [&](std::size_t i) {
      return i < words.size() ? parse_decimal<std::uint64_t>(words[i]) : std::nullopt;
    };
    if (words[0] == "gcTotal" && number(1)) {
      gc_total_ = *number(1);
      return {};
    }
    if (words[0] == "threadOwner" && number(1)) {
      owner_ = ThreadId(*number(1));
      return {};
    }
    if (words[0] == "timeout" && number(1)) {
      timeout_ = *number(1);
      return {};
    }
    if (words[0] == "trace" && words.size() == 2 && traces_.count(std::string(words[1])) != 0) {
      current_ = traces_[std::string(words[1])];
      processes_[*current_].trace_id = words[1];
      return {};
    }
    if (words[0] == "counter" && number(1)) {
      counter_ = number(1);
      return {};
    }
    if (words[0] == "methodCount" && number(1) && number(2)) return count(*number(1), *number(2));
    if (words[0] == "threadName" && number(1) && number(2) && number(3)) {
      const auto at = processes_.find(Key(machine_, static_cast<std::int64_t>(*number(1))));
      if (at == processes_.end()) return unmapped(record);
      const auto thread = static_cast<std::int64_t>(*number(2));
      at->second.threads[thread] = *number(3);
      std::size_t name = 0;
      for (int i = 0; i < 4; ++i) name = std::min(text.find(' ', name), text.size() - 1) + 1;
      return start_thread(at->second, thread, std::string_view(text).substr(name));
    }
    JTRACE_ASSIGN_OR_RETURN(Process * process, process_of_machine());
    if (words[0] == "option" && words.size() >= 3) {
      const std::size_t value = text.find(' ', 7) + 1;
      return emit(
          Option{.key = words[1], .value = std::string_view(text).substr(value), .traceIdRef = process->trace_id});
    }
    return take_plain(text);
  }

  // An element as XML: jtrace's writer uses this where SDDF has no record. Anything else that begins with '<' is text.
  Result<> take_element(const std::string& text) {
    CaptureSink sink;
    FaultLog faults;
    JTRACE_ASSIGN_OR_RETURN(auto bytes, memory_byte_source(text));
    XmlSource source(std::move(bytes), name_, faults);
    const auto read = source.read(sink);
    if (!read || read->truncated || faults.total() != 0 || sink.events().size() != 1) return take_plain(text);
    Event event = sink.events().front();
    if (const auto* agent = std::get_if<AgentCreate>(&event)) {
      const auto key = keys_.find(agent->processIdRef.view());
      if (key == keys_.end()) return take_plain(text);
      processes_[key->second].agent_id = agent->agentId.view();
      agents_.insert_or_assign(std::string(agent->agentId.view()), key->second);
    } else if (const auto* start = std::get_if<TraceStart>(&event)) {
      const auto key = agents_.find(start->agentIdRef.view());
      if (key == agents_.end()) return take_plain(text);
      current_ = key->second;
      Process& process = processes_[key->second];
      process.trace_id = start->traceId.view();
      process.traced = true;
      traces_.insert_or_assign(process.trace_id, key->second);
    } else if (!std::holds_alternative<TraceEnd>(event) && !std::holds_alternative<AgentDestroy>(event)) {
      JTRACE_ASSIGN_OR_RETURN(Process * process, process_of_machine());
      std::visit(
          [&](auto& element) {
            if constexpr (requires { element.traceIdRef; }) element.traceIdRef = process->trace_id;
          },
          event);
    }
    // Most elements come from records, which have no collationValue.
    std::visit(
        [](auto& element) {
          using Element = std::remove_cvref_t<decltype(element)>;
          if constexpr (requires { element.collationValue; } && !std::is_same_v<Element, TraceStart>)
            element.collationValue = {};
        },
        event);
    ++summary_.elements;
    return sink_->write(event);
  }
  Result<> take_plain(const std::string& text) {
    JTRACE_ASSIGN_OR_RETURN(Process * process, process_of_machine());
    return emit(Option{.key = "sddf.text", .value = text, .traceIdRef = process->trace_id});
  }

  SddfReader reader_;
  std::string name_;
  FaultLog& faults_;
  EventSink* sink_ = nullptr;
  ReadSummary summary_;
  std::uint64_t time_ = 0;
  std::int64_t machine_ = 0;
  std::map<std::int64_t, Time> machine_start_;
  std::map<Key, Process> processes_;
  std::set<std::string> nodes_;
  std::optional<std::uint64_t> interval_, counter_;
  std::uint64_t interval_time_ = 0;
  Number gc_total_, timeout_;
  ThreadId owner_;
  std::map<std::string, Key, std::less<>> keys_, agents_;  // by processId, agentId
  std::map<std::string, Key> traces_;
  std::optional<Key> current_;
};

}  // namespace

std::unique_ptr<EventSource> make_sddf_source(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults) {
  return std::make_unique<SddfSource>(std::move(bytes), std::move(name), faults);
}

}  // namespace jtrace::trace::io
