// Scopes: the meaning of the ids of a trace. Ids are scoped by agent (its traces share them); elements without a
// traceIdRef belong to the last traceStart. Pass every event to note() before using it. Memory grows with the
// definitions that are alive, not with the events (objects only if they are asked for). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event.h"
#include "trace/gap_option.h"
#include "trace/io/io_methods.h"
#include "trace/io/losses.h"
#include "trace/short_contentions.h"

namespace jtrace::trace::io {

struct ThreadInfo {
  std::string name;
  std::string group;
  Time start, end;
  bool defined = false;
};
struct ClassInfo {
  std::string name;        // internal form: java/lang/String, [I
  std::string source;      // file
  std::string superclass;  // as `name`; "" for none, or not known
};
struct MethodInfo {
  std::string name;
  std::string signature;
  std::uint64_t class_id = 0;
  std::uint64_t line = 0;
  bool is_synchronized = false;
  IoKind io = IoKind::kNone;
  bool is_static = false;
};

struct ObjectType {
  ClassId class_id;
  Number is_array;
};

// One producer of events.
struct Scope {
  std::size_t index = 0;
  std::string agent_id, agent_name, agent_version, agent_parameters;
  std::string process_id, process_name, hostname, node_id, executable, vm;
  std::uint64_t pid = 0;
  std::uint64_t traces = 0;
  bool snapshot = false;  // jtrace.kind: stacks without an end, one moment
  Time start, end;        // of its first trace, of its last
  // How long it took, ns; 0: that is not known.
  std::uint64_t length() const {
    return start.present() && end.present() && end.ns() > start.ns() ? end.ns() - start.ns() : 0;
  }
  Time created, destroyed;  // the agent, or the tool that took the part of one
  Losses losses;
  std::uint64_t gc_interval = 0;  // ns: of a series of counters, between two looks for pauses; 0: it is none
  std::uint64_t calls_end = 0;    // ns: from then on calls are not recorded any more (jtrace.callsEnd); 0: they are
  std::uint64_t pauses = 0;       // how often the trace was paused (jtrace.paused): nothing of that time is recorded
  // From the options: which events were asked for, whether the JVM samples objAlloc, and the interval in bytes.
  bool has_events_option = false, events_sampled = false;
  bool has_calls = false, has_exceptions = false, has_allocations = false;  // were asked for
  std::uint64_t asked_events = 0;                         // EventBit, of all its traces; only with has_events_option
  bool is_strict = false;                                 // without extensions, as the causes of exceptions
  bool has_messages = false;                              // of exceptions: were asked for
  bool has_arguments = false;                             // of calls: were asked for
  bool excludes = false;                                  // a filter leaves something out
  bool has_owners = false;                                // of all contentions: were asked for
  bool callouts_record_allocations = false;               // allocations: those of calls that began during the trace
  std::optional<std::uint64_t> methods_with_callouts;     // jtrace.rewritten: of loaded classes
  bool has_blocking_ends = false, has_wait_ends = false;  // monContendedEntered, monWaited were asked for
  std::optional<std::uint64_t> sample_interval;
  std::uint64_t stack_depth = 0;     // of objAlloc: frames at most; 0: not known
  std::uint64_t jdk = 0;             // jtrace.jdk; 0: not known
  std::string slower_than;           // only calls of this time or longer are recorded, in seconds; "": all
  std::string longest_from;          // and those of this time or longer that exceed all before them; "": none
  std::uint64_t min_contention = 0;  // ns: contentions that were shorter are only counted; 0: all are recorded
  std::map<std::string, ShortContentions, std::less<>> short_contentions;  // by class, as Java prints it; "": the rest
  std::vector<std::string> unavailable;  // jtrace.unavailable: what was asked for and the JVM does not give
  bool gaps_by_thread = false;           // jtrace.gaps: each loss is reported in its place
  std::unordered_map<std::uint64_t, ThreadInfo> threads;
  std::unordered_map<std::uint64_t, ClassInfo> classes;
  std::unordered_map<std::uint64_t, MethodInfo> methods;
  std::unordered_map<std::uint64_t, ObjectType> objects;
  // Of a java.lang.Class that calls of static synchronized methods waited for: the class (classId) of these methods; 0
  // if that is not certain.
  std::unordered_map<std::uint64_t, std::uint64_t> class_objects;

  // Owners of all contentions were not asked for, and could have been.
  bool could_have_owners() const { return has_events_option && !has_owners && agent_name == "jtrace"; }
  // They were asked for, but the JVM does not tell of virtual threads, which there are.
  bool hides_virtual_owners() const;
  // ", of shorter ones each that took longer than those before it", after what slower_than says; "": none is there.
  std::string longest_note() const;
  // Of a series of counters: when it read the heap after a pause; "" for other traces.
  std::string late_heap_note() const;
  // "the trace was paused 2 times: ..."; "" if it was not.
  std::string pauses_note() const;
  // "worker-1", "thread#7" if it is not defined; "java.lang.String"; "java.lang.String.length".
  std::string thread_name(std::uint64_t id) const;
  // A carrier, or one that wakes virtual threads. In JDK 21 they park by LockSupport, as the virtual threads do: what
  // one waits for would count once more.
  bool serves_virtual_threads(std::uint64_t thread) const;
  std::string class_name(std::uint64_t id) const;
  std::string method_name(std::uint64_t id) const;
  // Of `unavailable`, the lines that name one of these events (EventBit).
  std::vector<std::string> unavailable_of(std::uint64_t events) const;
  // Of all classes.
  ShortContentions all_short_contentions() const;
  // "812 contentions of less than 1ms, 0.312 s in all, are only counted"; "" if there were none.
  std::string short_contentions_note() const;
};

// java/lang/String -> java.lang.String, [I -> int[].
std::string java_class_name(std::string_view internal);

struct ProcessInfo {
  std::string name, node_id, executable;
  std::uint64_t pid = 0;
  Time time;
};
struct NodeInfo {
  std::string hostname, addresses;
  Time time;
};

class Scopes {
 public:
  // `with_objects`: remembers the class of each live object.
  explicit Scopes(bool with_objects = false) : with_objects_(with_objects) {}

  // Stores the event's definitions; returns its scope (one without a name if none is known).
  Scope& note(const Event& event);
  Scope& of(Text trace_id);

  const std::vector<std::unique_ptr<Scope>>& all() const { return scopes_; }
  const std::map<std::string, ProcessInfo, std::less<>>& processes() const { return processes_; }
  const std::map<std::string, NodeInfo, std::less<>>& nodes() const { return nodes_; }

 private:
  Scope& of_agent(std::string_view agent_id);
  void start_trace(const TraceStart& start);
  // note() of one element. An element that belongs to no producer: nobody_.
  Scope& take(const Node& node);
  Scope& take(const ProcessCreate& process);
  Scope& take(const AgentCreate& agent);
  Scope& take(const AgentDestroy& agent);
  Scope& take(const TraceEnd& end);
  Scope& take(const Filter& filter);
  Scope& take(const Option& option);
  Scope& take(const ThreadStart& start);
  Scope& take(const ThreadEnd& end);
  Scope& take(const ClassDef& definition);
  Scope& take(const MethodDef& definition);
  Scope& take(const ObjAlloc& alloc);
  Scope& take(const ObjDef& definition);
  Scope& take(const ObjFree& gone);

  bool with_objects_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::map<std::string, std::size_t, std::less<>> agents_;
  std::map<std::string, std::size_t, std::less<>> traces_;
  std::map<std::string, ProcessInfo, std::less<>> processes_;
  std::map<std::string, NodeInfo, std::less<>> nodes_;
  Scope nobody_;  // of nodes and processes
  Scope* current_ = nullptr;
  std::string last_id_;
  Scope* last_ = nullptr;
};

// The gap that `event`, of that scope, reports: what is open in its thread, or in all threads, is unknown from then on.
std::optional<Gap> gap_of(const Event& event, const Scope& scope);

// The attributes that many elements share; absent if this element does not have one.
struct Common {
  Time time;
  ThreadId thread;
  Text trace_id;
  WordList collation;
  bool can_collate = false;
};
Common common_of(const Event& event);

}  // namespace jtrace::trace::io
