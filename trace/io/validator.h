// Validator: an EventSink that checks the meaning of a trace, beyond the checks of the reader: ids defined before use
// and once, entries and exits, starts and ends, GC pairs, collation without gap or duplicate, time that does not go
// back within a thread. Balance is not required in snapshots, at marked gaps (options jtrace.gap, of a thread, and
// jtrace.dropped), at pauses, for what the previous document has begun (option jtrace.continues), and for the calls of
// the thread that ends the JVM (jtrace.exit). Faults go to a FaultLog, with the position from the source. One thread.
//
// References to threads and objects are checked only if their scope defines any of that kind: a trace without
// threadStart events (--events) is valid.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/event_sink.h"
#include "trace/io/event_source.h"
#include "trace/io/fault_log.h"
#include "trace/io/scopes.h"
#include "trace/schema.h"

namespace jtrace::trace::io {

class Validator final : public EventSink {
 public:
  // `name` is used in messages. `faults`: borrowed.
  Validator(std::string name, FaultLog& faults) : name_(std::move(name)), faults_(faults) {}
  // The source of the events; borrowed, set before the first write().
  void set_source(const EventSource* source) { source_ = source; }
  // Another input continues the trace.
  void set_name(const std::string& name) { name_ = name; }

  Result<> write(const Event& event) override;
  // Of an input that is cut off the end is not missing.
  enum class Ending { kWhole, kCut };
  Result<> finish_after(Ending ending);
  Result<> finish() override;
  std::uint64_t events() const { return events_; }

 private:
  using IdSet = std::unordered_set<std::uint64_t>;
  struct Frame {
    std::uint64_t ticket, method;
    bool has_ticket;
    bool is_call;  // methodCall, else methodEntry
  };
  struct Thread {
    std::uint64_t last_time = 0;
    std::uint64_t last_call_time = 0;  // of its methodEntries and methodExits
    std::vector<Frame> stack;
    bool after_gap = false;  // exits of frames that the gap has closed are allowed
    bool waits = false, blocked = false;
  };
  // Collation values seen, as ranges first -> last; the gaps are between them.
  struct Collation {
    std::map<std::uint64_t, std::uint64_t> ranges;
    std::uint64_t duplicates = 0;
    bool started = false;
  };
  struct State {  // of one scope
    IdSet threads, classes, methods, objects;
    IdSet ended;  // threads
    std::unordered_map<std::uint64_t, Thread> running;
    bool gc_open = false;
    bool gc_unknown = false;  // after a gap or in a further part: a collection may be open
    bool has_gap = false;     // of any thread
    std::uint64_t exits = 0;  // the thread that ends the JVM
    // --slower-than: a methodEntry, and the methodExit of a left constructor, may come after later events of the
    // thread.
    bool has_late_entries = false;
  };
  struct Trace {
    bool ended = false;
    Collation collation;
  };

  Position here() const { return source_ ? source_->position() : Position{}; }
  Result<> fault(std::string_view kind, const std::string& message);
  Result<> check_hierarchy(const Event& event);
  Result<> check_definition(const Event& event, State& state);
  Result<> check_references(const Event& event, Scope& scope, State& state);
  Result<> check_collation(const Event& event, const Common& common, Scope& scope);
  Result<> check_time(const Event& event, const Common& common, State& state, Scope& scope);
  Result<> check_balance(const Event& event, Scope& scope, State& state);
  template <class Element>
  Result<> check_end(const Element& end, bool is_call, Thread& thread, State& state);
  Result<> define(IdSet& ids, std::uint64_t id, std::string_view what);
  Result<> use(const IdSet& ids, std::uint64_t id, std::string_view what, std::string_view by);
  void lose(State& state, std::uint64_t thread);
  void note_option(const Option& option, const Event& event, Scope& scope, State& state);

  std::string name_;
  FaultLog& faults_;
  const EventSource* source_ = nullptr;
  Scopes scopes_;
  std::vector<std::unique_ptr<State>> states_;
  std::map<std::string, Trace, std::less<>> traces_;
  std::string current_trace_;
  std::map<std::string, int, std::less<>> uuids_;  // node 0, process 1, agent 2
  std::uint64_t events_ = 0;
};

}  // namespace jtrace::trace::io
