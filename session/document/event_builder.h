// EventBuilder: makes the events of trace.dtd from the records of a pool, in the order in which the reader hands them
// out.
//
// What it adds: definitions before their first use (DefinitionTable) or, where every new one is wanted, at their time;
// the heap figures of a gcFinish, which come in a record of their own; how long a monWaited has waited; with nested
// frees, objFree and classUnload between gcStart and gcFinish. For the latter it holds records back, bounded in time
// and number. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "session/document/call_stacks.h"
#include "session/document/definition_table.h"
#include "session/document/object_sequences.h"
#include "session/document/partial_document.h"
#include "trace/event_emitter.h"
#include "trace/record/control.h"
#include "trace/record/pool_reader.h"
#include "trace/record/record_kinds.h"

namespace jtrace::session {

struct BuilderOptions {
  std::uint64_t events = 0;         // EventBit: which threadStart and classDef come without being referred to
  bool all_loaded_classes = false;  // classDef of classes that were there before comes at once
  bool nested_frees = false;
  bool receivers = false;  // of calls: objIdRef and sequenceCounter
  bool cpu_time = false;   // of calls (on both sides) and lines: threadCpuTime
};

class EventBuilder final : public trace::record::RecordSink {
 public:
  EventBuilder(trace::EventEmitter& emitter, const ClockAnchor& anchor, const BuilderOptions& options)
      : emitter_(emitter), anchor_(anchor), options_(options), definitions_(emitter, anchor) {}

  Result<> on_definition(std::span<const std::byte> record) override;
  Result<> on_event(const trace::record::RecordHeader& record) override;
  void on_producer(std::uint32_t producer) override;
  // As on_definition(), but of what began before: written where it is referred to, not at its time.
  void know(std::span<const std::byte> record);
  // After each pass: no record with an earlier time (monotonic, ns) will come.
  Result<> on_time(std::uint64_t time);
  // Nothing will come any more: writes what is held back.
  Result<> finish();

  // A new document begins (its head is written): live threads are defined again, the rest on reference.
  Result<> restart(std::uint64_t time);
  // The same where what the threads are in is not known, and is said not to be.
  Result<> restart_unknown(std::uint64_t time);

  // The process was seen standing still at that time, or is not any more (`time`: of the last such look). Written
  // before what comes later; what comes later says itself that it goes on.
  void announce_standstill(std::uint64_t time, bool still) { standstills_.push_back({time, still}); }
  void forget_standstill() {
    standstills_.clear();
    stands_still_ = false;
  }

  // What the threads that lose events just now have open is not known from there on: said, for a document that ends.
  Result<> say_open_gaps();

  // The trace was paused, or events were lost: what is open is not known any more.
  void forget_calls() {
    calls_.forget_all([this](const OpenCall& call) { abandon(call); });
  }
  // The trace was paused: what a thread has done since its last wait ended is not known.
  void forget_ended_waits();
  // Events may be missing: what threads did when the trace began may not last.
  void forget_thread_states() { definitions_.forget_thread_states(); }
  // Another document begins that has none of the beginnings.
  void forget_waits();

  // A methodCount, of a method whose definition has come; another one's is left out: it was not called before.
  Result<> write_count_of(std::uint64_t method, std::uint64_t calls, std::uint64_t time);
  std::size_t known_methods() const { return definitions_.methods(); }

  // Called before the elements of an event are written, with its time.
  void set_before_event(std::function<Result<>(std::uint64_t)> hook) { before_event_ = std::move(hook); }

  // The document has everything up to this time (monotonic), and these definitions and ends: it is not written again.
  void go_on_after(const PartialDocument& document, std::uint64_t time);

  std::uint64_t malformed() const { return malformed_; }
  // Exits whose entry was lost, or was before the trace.
  std::uint64_t orphan_exits() const { return orphan_exits_; }
  std::uint64_t made_up_definitions() const { return definitions_.made_up(); }
  std::uint64_t first_time() const { return first_time_; }  // of the records; 0: none came
  std::uint64_t last_time() const { return last_time_; }

 private:
  static constexpr std::uint64_t kFiguresWait = 100'000'000;   // ns that a gcFinish waits for its figures
  static constexpr std::uint64_t kFreesWait = 100'000'000;     // ... for the next objFree of its collection
  static constexpr std::uint64_t kFreesLimit = 1'000'000'000;  // ... and for all of them
  static constexpr std::size_t kHoldLimit = 200'000;           // records
  static constexpr std::size_t kMostTexts = 100'000;           // whose values were not lost
  static constexpr std::size_t kMostValues = 256;              // of a call: 255 arguments and a result

  struct Record {  // any record, by value
    alignas(16) std::byte bytes[trace::record::kLargestRecord];
    std::uint64_t thread;  // that the producer runs, as its last kThreadSwitch said; 0: none did
    bool is_virtual;       // that thread
    const trace::record::RecordHeader& header() const {
      return reinterpret_cast<const trace::record::RecordHeader&>(*this);
    }
    template <class T>
    const T& as() const {
      return reinterpret_cast<const T&>(*this);
    }
  };
  struct HeldFinish {
    trace::record::GcFinishRecord record;
    bool figures_follow;
    std::uint64_t last_free;
  };
  struct Announced {  // a definition that is due at its time
    std::uint64_t time;
    std::uint64_t id;
    bool is_class;
  };

  Result<> pump();
  Result<> process(const Record& record);
  // The handlers, one for each row of records.def (record_handlers.cpp).
#define RECORD(number, Name, Struct, ...) Result<> on_##Name(const Record& any, const trace::record::Struct& record);
#include "trace/record/records.def"
#undef RECORD
  Result<> hold(const Record& record);
  bool may_release(std::uint64_t time) const;
  Result<> release();
  Result<> announce_until(std::uint64_t time);
  Result<> announce_definitions_until(std::uint64_t time);
  Result<> take_standstill(std::uint64_t time, bool still);

  struct Losses {  // times monotonic, 0: not known
    std::uint64_t thread = 0, from = 0, to = 0, events = 0;
  };
  Result<> write_gap(const Losses& losses);
  Result<> take_switch(const trace::record::ThreadRecord& record);
  Result<> say_open_calls(const trace::record::ThreadRecord& end);
  Result<> write_thread_end(const trace::record::ThreadRecord& record);
  Result<> write_gc_start(const trace::record::ThreadRecord& record);
  Result<> start_gc_finish(const trace::record::GcFinishRecord& record);
  Result<> write_gc_finish(const trace::record::GcFinishRecord& record);
  bool ends_unseen_wait(const trace::record::MonitorRecord& record) const;
  bool begun(const trace::record::MonitorRecord& record) const;
  Result<> write_monitor(const trace::record::MonitorRecord& record);
  Result<> write_alloc(const trace::record::ObjAllocRecord& record);
  Result<> write_entry(const Record& record, std::uint64_t time, std::uint64_t object);
  Result<> write_call(const Record& record);
  Result<> write_end(const Record& record);
  struct EndFigures {
    std::uint64_t time = 0;
    trace::Number cpu_time;
  };
  Result<> write_end_of(CallStack& stack, const EndFigures& at, trace::List<trace::Value> values);
  Result<> end_down_to(CallStack& stack, std::size_t size, const EndFigures& now);
  Result<> end_calls_of(CallStack& stack, std::uint32_t method, const EndFigures& now);
  Result<> end_constructors(CallStack& stack, std::uint32_t inside, const EndFigures& now);
  Result<> take_value(const Record& record);
  Result<> take_receiver(const Record& record);
  // objIdRef and sequenceCounter of an entry or exit; absent where they are not known, or not wanted.
  struct Receiver {
    trace::ObjectId object;
    trace::Number sequence;
  };
  Receiver receiver_of(std::uint64_t method) const;
  trace::ObjectId no_receiver_of(std::uint64_t method) const;
  trace::Number cpu_time_of(const Record& record) const;
  void abandon(const OpenCall& call) {
    if (call.object != 0) sequences_.abandon(call.object);
  }
  Result<> write_due_ends(std::uint64_t time);
  Result<> write_line(const Record& record);
  Result<> write_exception(const Record& record);
  trace::ClassId class_ref(std::uint64_t method) const;
  static trace::WordList ticket_of(CallStack& stack, std::uint32_t method);
  Result<> write_count(const trace::record::CountRecord& record);
  Result<> end_object(const Record& record);
  Result<> write_end_of_object(const trace::record::ObjectRecord& record);
  template <class Element>
  Result<> write_runtime(const trace::record::ThreadRecord& record);
  trace::Time wall(std::uint64_t monotonic) const { return trace::Time(anchor_.wall_of(monotonic)); }

  trace::EventEmitter& emitter_;
  ClockAnchor anchor_;
  BuilderOptions options_;
  DefinitionTable definitions_;
  std::deque<Announced> announced_;
  struct Standstill {
    std::uint64_t time;
    bool still;
  };
  std::deque<Standstill> standstills_;
  bool stands_still_ = false;      // as the document says
  std::uint64_t still_until_ = 0;  // at least
  std::deque<Record> input_;       // to be processed, only while something is held or was just released
  std::deque<Record> behind_;      // what came after the held gcFinish
  bool holding_ = false;
  HeldFinish held_{};
  std::deque<Record> late_frees_;  // nested frees that came after their gcFinish: for the next pair
  IdSet ended_threads_;
  // thread -> time of the monWait it is in, kNotWaiting after its end; absent: of its waits nothing is known yet
  std::unordered_map<std::uint64_t, std::uint64_t> waits_;
  std::unordered_set<std::uint64_t> contending_;  // threads between monContendedEnter and monContendedEntered
  CallStacks calls_;
  ObjectSequences sequences_;
  std::map<std::uint64_t, trace::record::TextDefinition> texts_;  // of values that are still to come
  ValueElements value_elements_;
  struct Running {
    std::uint64_t thread = 0;
    bool is_virtual = false;
    bool is_carrier = false;       // has run virtual ones
    std::uint64_t loses_from = 0;  // unless another record comes: since then (monotonic), of that thread
    std::uint64_t loses_of = 0;
  };
  std::unordered_map<std::uint32_t, Running> producers_;  // what runs on each
  Running* running_ = nullptr;                            // on the producer at hand
  std::uint64_t orphan_exits_ = 0;
  std::function<Result<>(std::uint64_t)> before_event_;
  std::uint64_t malformed_ = 0;
  std::uint64_t written_until_ = 0;  // go_on_after()
  std::uint64_t first_time_ = 0;
  std::uint64_t last_time_ = 0;
};

}  // namespace jtrace::session
