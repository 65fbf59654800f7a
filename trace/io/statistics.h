// Statistics: an EventSink that sums up a trace: the contents of jtrace stats and jtrace report. Kept per producer,
// because ids and times are; memory grows with threads, classes, methods, live objects and GC pauses, not with events.
// One thread.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "trace/collection_option.h"
#include "trace/event_sink.h"
#include "trace/io/allocation_places.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/call_stacks.h"
#include "trace/io/exceptions.h"
#include "trace/io/first_states.h"
#include "trace/io/scopes.h"
#include "trace/io/slow_calls.h"

namespace jtrace::trace::io {

std::string_view state_name(ThreadState state);  // "running" ...

struct Waits {  // ns
  std::uint64_t count = 0, total = 0, longest = 0;
  void add(std::uint64_t ns);
};
struct ThreadStatistics {
  std::uint64_t events = 0;
  Waits blocked, waiting, sleeping;
  double allocations = 0, allocated_bytes = 0;  // estimates if the JVM sampled
  ThreadState state = ThreadState::kRunning;
  std::uint64_t since = 0;
  std::uint64_t monitor = 0, owner = 0;  // of the state
  std::uint64_t first_until = 0;         // ns: until when its state since before the trace is counted
  bool ran_before = false;               // the trace: of its calls from then on no allocation is recorded
};
struct MethodStatistics {
  std::uint64_t calls = 0, total = 0, self = 0, cpu = 0;  // ns
  std::uint64_t counted = 0;                              // methodCount
  bool has_count = false;
  std::uint64_t settled_longest = 0;  // ns: of the calls that began after kSettling; 0: there were none
};
struct Amount {
  std::uint64_t count = 0, bytes = 0;
};
// A counter over time (`value` in snapshots). If there are many points, they are thinned out evenly.
struct CounterSeries {
  std::uint64_t samples = 0;
  std::int64_t first = 0, last = 0, least = 0, greatest = 0;
  std::string text;                                            // the last value of a counter that is not a number
  std::vector<std::pair<std::uint64_t, std::int64_t>> points;  // ns, value
  void add(std::uint64_t time, std::int64_t value);

 private:
  std::uint64_t stride_ = 1;
};
// A thread in a snapshot: its frames (method ids, outermost first) and what it waits for.
struct SnapshotThread {
  std::vector<std::uint64_t> frames;
  ThreadState state = ThreadState::kRunning;
  std::uint64_t monitor = 0, owner = 0;
  std::size_t deeper = 0;  // number of inner frames that are not kept
  bool cut = false;        // jtrace.cutStack: the outermost frame is not the thread's
};

struct ScopeStatistics {
  Scope* scope = nullptr;
  std::array<std::uint64_t, kElementCount> counts{};
  // ns; 0: no event with a time. From traceStart on: a later part of a rotated trace repeats what has earlier times.
  std::uint64_t first = 0, last = 0;
  std::uint64_t begun = 0;    // the earliest traceStart
  bool begins_later = false;  // it continues a part that is not there
  std::unordered_map<std::uint64_t, ThreadStatistics> threads;
  std::vector<GcPause> pauses;
  std::vector<std::string> pause_texts = {""};                     // their causes and kinds; the first: unknown
  std::map<std::pair<std::string, std::string>, Waits> gc_causes;  // cause, kind; "": unknown
  Waits gc;
  std::vector<Collection> collections;  // that are more than one pause
  std::uint64_t gc_missed = 0;          // pauses of which only the number is known (hsperf.gc.missed)
  // Of threads that have lost events. One without an end lasts until that of the trace, and is in the time from
  // finish() on.
  std::uint64_t gaps = 0, gap_time = 0;  // ns
  std::vector<std::uint64_t> endless;    // ns: their beginnings
  std::uint64_t gc_without_start = 0;    // pauses of gc whose gcStart is missing: their time is 0
  std::uint64_t last_gc_start = 0;
  std::uint64_t still_since = 0;            // ns: the process stands still; 0: it does not
  std::map<std::string, Waits> contention;  // class of the monitor, or of the lock that a thread had
  std::map<std::string, Waits> waits;       // of other waits (Object.wait, parks): class of their object
  // Of threads that serve virtual threads (Scope::serves_virtual_threads), which park when those do: not in `waits`.
  Waits carrier_waits;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Waits> waited_for;  // thread, owner when the wait began
  std::map<std::string, Allocated> allocations;                         // class
  std::map<std::string, Allocated> sites;                               // innermost frame of the allocation, class
  std::uint64_t large_samples = 0;                                      // is_large_sample()
  AllocationPlaces places;
  AllocationKind allocation_kind = AllocationKind::kNone;
  std::unordered_map<std::uint64_t, MethodStatistics> methods;
  SlowCalls slow;
  Exceptions exceptions;
  std::map<std::string, CounterSeries, std::less<>> counters;
  std::map<std::string, Amount> heap;              // class: a histogram of live objects
  std::uint64_t full_stacks = 0;                   // of allocations: with as many frames as --stack-depth
  std::map<std::uint64_t, SnapshotThread> stacks;  // of the last snapshot
  std::uint64_t trace_time = 0;                    // of the last traceStart

  // Circles of threads, each waiting for the next; of the last snapshot.
  std::vector<std::vector<std::uint64_t>> deadlocks() const;
  std::uint64_t count(ElementKind kind) const { return counts[static_cast<std::size_t>(kind)]; }
  std::uint64_t events() const;
  // Of all scopes, with surplus_note().
  std::string allocation_note() const;
  // "12 of 40 stacks have 16 frames, the most that were recorded (--stack-depth): ..."; "" if none has.
  std::string cut_stacks_note() const;
  // "only objects of the classes that the trace's filters include"; "" if they leave none out (filters_objects()).
  std::string filters_note() const;
  // Why the estimates may be much too high (allocation_weight.h); "": they are not.
  std::string surplus_note() const;
};

// Which columns of a thread or method were recorded: a time that was not measured is not 0.
struct Recorded {
  bool blocked = false, waiting = false, sleeping = false, allocations = false, calls = false, pauses = false;
};
// By the option `events`; of a producer without it, by the elements that are there. Of a snapshot nothing has a time.
Recorded recorded_of(const ScopeStatistics& statistics);
// What a thread allocated: a running thread's old calls have no callouts, and the JVM samples it only later.
inline bool knows_allocations(const Recorded& recorded, const ThreadStatistics& thread) {
  return recorded.allocations && (thread.allocations > 0 || !thread.ran_before);
}

// Coverage of the methods that have a methodCount.
struct Coverage {
  std::uint64_t ran = 0, counted = 0;
};
Coverage coverage_of(const ScopeStatistics& statistics);

// Facts that several producers of one process may record: one producer is chosen.
enum class Family : std::uint8_t {
#define FAMILY(Name, word) k##Name,
#include "trace/io/families.def"
#undef FAMILY
};
inline constexpr std::string_view kFamilyNames[] = {
#define FAMILY(Name, word) word,
#include "trace/io/families.def"
#undef FAMILY
};
inline constexpr std::size_t kFamilyCount = std::size(kFamilyNames);
constexpr std::string_view family_name(Family family) { return kFamilyNames[static_cast<std::size_t>(family)]; }

// The JVM of a trace that was made for one answer.
struct AnsweringJvm {
  std::int64_t pid = 0, nspid = 0;
  bool keeps_trace = false;  // the input is the file in which it is kept
};

class Statistics : public EventSink, private CallListener {
 public:
  Statistics() : scopes_(true), calls_(*this) {}
  Result<> write(const Event& event) override;
  Result<> finish() override;

  const Scopes& scopes() const { return scopes_; }
  const std::vector<ScopeStatistics>& by_scope() const { return by_scope_; }
  const CallStacks& calls() const { return calls_; }
  // Each process once, in the order of their producers.
  std::vector<std::string> process_ids() const;
  std::uint64_t total(ElementKind kind) const;
  std::uint64_t events() const;
  // The producer of the process that records most of `family`; null if none records any.
  const ScopeStatistics* chosen(std::string_view process_id, Family family) const;
  // As chosen() of kGc; where there was no pause, or none was seen, the producer that would have recorded it, so that
  // "no pauses" can be told from "not looked for". Null if none would have.
  const ScopeStatistics* watcher_of_pauses(std::string_view process_id) const;
  // The others that record some of it: they may be of the same time or of another, so they are not added.
  std::vector<const ScopeStatistics*> not_chosen(std::string_view process_id, Family family) const;
  // What the reader of the input knows to be missing, in words: it ends early, parts of it are not there.
  void note_missing(std::string what) { missing_.push_back(std::move(what)); }
  const std::vector<std::string>& missing() const { return missing_; }
  void set_traced_jvm(const AnsweringJvm& jvm) { traced_jvm_ = jvm; }
  const std::optional<AnsweringJvm>& traced_jvm() const { return traced_jvm_; }
  Losses losses() const;  // of all traces, while they were made

 protected:
  // Called after the event was added.
  virtual void on_event(const Event&, ScopeStatistics&) {}
  // For derived classes that show states over time: thread `id` of `scope` leaves `state`, in which it was from
  // `since`.
  virtual void on_state(const ScopeStatistics&, std::uint64_t /*thread*/, ThreadState, std::uint64_t /*since*/,
                        std::uint64_t /*until*/) {}
  // False while on_state() is called for waits whose ends are not in the trace: events are missing, or the trace ended.
  bool ends_are_known() const { return ends_are_known_; }
  // The thread was already blocked or waiting when the trace began, at `since`, and was until `until`; `monitor`: 0 if
  // it is not known. Not passed to on_state().
  virtual void on_first_wait(const ScopeStatistics&, std::uint64_t /*thread*/, ThreadState, std::uint64_t /*since*/,
                             std::uint64_t /*until*/, std::uint64_t /*monitor*/) {}
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override;
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t cpu_time) override;
  void on_gap(Scope& scope, const Gap& gap) override;
  ScopeStatistics& of(Scope& scope);
  // The wait of the thread that has not ended at that time.
  static std::optional<Wait> open_wait(const ScopeStatistics& statistics, std::uint64_t thread, std::uint64_t time);
  // ns that a call which ends at that time took itself.
  static std::uint64_t self_time(const ScopeStatistics& statistics, std::uint64_t thread, const OpenFrame& frame,
                                 std::uint64_t time);

 private:
  void note_times(ScopeStatistics& statistics, const Event& event);
  void enter_state(ScopeStatistics& statistics, ThreadId thread, ThreadState state, Time time, ObjectId monitor,
                   ThreadId owner);
  void leave_state(ScopeStatistics& statistics, ThreadId thread, Time time);
  // All of the scope, whose ends may be missing.
  void leave_states(ScopeStatistics& statistics, std::uint64_t time);
  void note_first_state(const Scope& scope, std::uint64_t thread, const FirstState& first);
  static void note_missed_pauses(ScopeStatistics& statistics, const Option& option);
  static void note_io(ScopeStatistics& statistics, std::uint64_t thread, const std::vector<OpenFrame>& stack,
                      std::uint64_t time);
  static void note_collection(ScopeStatistics& statistics, const Option& option);
  void note_gc(ScopeStatistics& statistics, const GcFinish& finish);
  void note_allocation(ScopeStatistics& statistics, const ObjAlloc& alloc);
  void note_states(ScopeStatistics& statistics, const Event& event);
  void note_snapshot(ScopeStatistics& statistics, const Event& event);
  void note_value(ScopeStatistics& statistics, const Value& value);

  Scopes scopes_;
  CallStacks calls_;
  std::vector<ScopeStatistics> by_scope_;
  FirstStates first_states_{[this](const Scope& scope, std::uint64_t thread, const FirstState& first) {
    note_first_state(scope, thread, first);
  }};
  const Event* event_ = nullptr;                        // the event that is being noted
  const MethodEntry* entry_ = nullptr;                  // the same if it is an entry
  std::array<std::uint64_t, kElementCount> outside_{};  // nodes and processes
  std::vector<std::string> missing_;
  std::optional<AnsweringJvm> traced_jvm_;
  bool ends_are_known_ = true;
  bool finished_ = false;
};

// Where owners of contentions are not known, and were not asked for.
inline constexpr std::string_view kOwnersNote =
    "who had it is not known; attach --monitor-owner asks in each contention (without it in some, and in none where "
    "there were virtual threads)";
// Where they were asked for (Scope::hides_virtual_owners).
inline constexpr std::string_view kVirtualOwnersNote =
    "a virtual thread had it, which JDK 23 and later do not name, or nobody any more";
// ": it was recorded without exceptions", if no producer was asked for events of that kind; "": one was, or one does
// not say what it was asked for. kCalls, kExceptions or kAllocations.
std::string recorded_without(const Statistics& statistics, Family family);

// Opens the object of a view of a trace, up to "missing": what was lost while tracing. The target is the JVM, if it was
// traced for this answer (Statistics::set_traced_jvm).
void begin_trace_view(JsonWriter& json, std::string_view view, const Statistics& statistics, std::string_view input);
// "17 events were lost while tracing: there were more", with a newline; "": nothing is missing. The same of a trace
// that was paused. For tables that show some kinds only.
std::string lost_events(const ScopeStatistics& statistics);
// As text for a terminal, and as the one JSON object of every view.
std::string statistics_text(const Statistics& statistics, std::size_t rows);
std::string statistics_json(const Statistics& statistics, std::string_view input, std::size_t rows);

}  // namespace jtrace::trace::io
