// EventBuilder: makes the events of trace.dtd from the records of a pool, in the order of the reader. It passes each
// record to the part for its subject (event_part.h): collections, objects, waits, calls, losses. First it writes
// definitions and standstills that are due.
//
// The parts add: definitions before their first use (DefinitionTable) or, if every new one is wanted, at their time;
// the heap figures of a gcFinish, which have a record of their own; the duration of a monWaited; with nested frees,
// objFree and classUnload between gcStart and gcFinish. For the last of these, records are held back, limited in time
// and number. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/clock.h"
#include "session/document/announcements.h"
#include "session/document/call_events.h"
#include "session/document/collection_events.h"
#include "session/document/definition_table.h"
#include "session/document/loss_events.h"
#include "session/document/object_events.h"
#include "session/document/partial_document.h"
#include "session/document/producer_states.h"
#include "session/document/short_contentions.h"
#include "session/document/standstill_events.h"
#include "session/document/wait_events.h"
#include "trace/event_emitter.h"
#include "trace/record/control.h"
#include "trace/record/pool_reader.h"

namespace jtrace::session {

class EventBuilder final : public trace::record::RecordSink {
 public:
  // `emitter`: borrowed.
  EventBuilder(trace::EventEmitter& emitter, const ClockAnchor& anchor, const BuilderOptions& options);
  EventBuilder(const EventBuilder&) = delete;  // its parts refer to it
  EventBuilder& operator=(const EventBuilder&) = delete;

  Result<> on_definition(std::span<const std::byte> record) override;
  Result<> on_event(const trace::record::RecordHeader& record) override;
  void on_producer(std::uint32_t producer) override { producers_.select(producer); }
  // As on_definition(), but from before the trace: written when an event refers to it, not at its time.
  void remember(std::span<const std::byte> record);
  // Call it after each pass: no record with an earlier time (monotonic, ns) will follow.
  Result<> on_time(std::uint64_t time);
  // No further record follows: writes everything that is held back.
  Result<> finish();

  // A new document begins (its head is written): live threads are defined again, the rest when they are referred to.
  Result<> restart(std::uint64_t time);
  // The same if the threads' open calls are unknown; the document then records that.
  Result<> restart_unknown(std::uint64_t time);

  // The process was seen standing still at that time, or continues (`time`: of the last check that found it standing
  // still). Written before later records; a later record also shows that the process continues.
  void add_standstill(std::uint64_t time, bool still) { standstills_.add({time, still}); }
  void forget_standstill() { standstills_.forget(); }

  // No end of a contention that is held back is waited for any more: writes what is.
  Result<> write_held_contentions() { return forward_held(UINT64_MAX); }
  // How many contentions were too short, since the last call.
  Result<> write_short_contentions() { return short_.write_counts(); }
  // For a document that ends: the open calls of threads that are losing events are unknown.
  Result<> write_open_gaps() { return losses_.write_open_gaps(); }
  // No event after the last one found room: what was open then has no end.
  Result<> write_cut() { return losses_.write_cut(last_time_); }

  // The trace was paused, or events were lost: the open calls are unknown from here on.
  void forget_calls() { calls_.forget_all(); }
  // The trace was paused: a thread may have waited since the end of its last wait.
  void forget_ended_waits() { waits_.forget_ended(); }
  // Events may be missing: the states of threads at the start of the trace may be over.
  void forget_thread_states() { definitions_.forget_thread_states(); }
  // A new document begins, without the monWait of waits that are open.
  void forget_waits() { waits_.forget_all(); }

  // Writes a methodCount, if the method's definition has come; otherwise the method was not called before, and nothing
  // is written.
  Result<> write_count_of(std::uint64_t method, std::uint64_t calls, std::uint64_t time);
  std::size_t defined_methods() const { return definitions_.methods(); }

  // Called before the elements of an event are written, with its time.
  void set_before_event(std::function<Result<>(std::uint64_t)> hook) { before_event_ = std::move(hook); }

  // The document has everything up to this time (monotonic), these definitions and ends: they are not written again.
  void go_on_after(const PartialDocument& document, std::uint64_t time);

  std::uint64_t malformed() const { return malformed_; }
  // Exits whose entry was lost, or was before the trace.
  std::uint64_t orphan_exits() const { return calls_.orphan_exits(); }
  std::uint64_t made_up_definitions() const { return definitions_.made_up(); }
  std::uint64_t first_time() const { return first_time_; }  // of the records; 0: there were none
  std::uint64_t last_time() const { return last_time_; }

 private:
  Result<> forward(const TimedRecord& record);
  Result<> forward_held(std::uint64_t time);
  Result<> pump();
  Result<> process(const TimedRecord& record);
  Result<> dispatch(const TimedRecord& record);
  // The handlers, one for each row of records.def (record_handlers.cpp).
#define RECORD(number, Name, Struct, ...) \
  Result<> on_##Name(const TimedRecord& any, const trace::record::Struct& record);
#include "trace/record/records.def"
#undef RECORD
  Result<> release();
  Result<> announce_until(std::uint64_t time);
  Result<> write_thread_end(const trace::record::ThreadRecord& record);
  Result<> write_count(const trace::record::CountRecord& record);
  template <class Element>
  Result<> write_runtime(const trace::record::ThreadRecord& record);

  trace::Time wall(std::uint64_t monotonic) const { return trace::Time(anchor_.wall_of(monotonic)); }

  trace::EventEmitter& emitter_;
  const ClockAnchor anchor_;
  const BuilderOptions options_;
  DefinitionTable definitions_;
  ProducerStates producers_;
  ShortContentions short_;
  Announcements announcements_;
  StandstillEvents standstills_;
  ObjectEvents objects_;
  CollectionEvents collections_;
  WaitEvents waits_;
  CallEvents calls_;
  LossEvents losses_;
  std::deque<TimedRecord> input_;  // to be processed, only while something is held or was just released
  IdSet ended_threads_;
  std::function<Result<>(std::uint64_t)> before_event_;
  std::uint64_t malformed_ = 0;
  std::uint64_t written_until_ = 0;  // go_on_after()
  std::uint64_t first_time_ = 0;
  std::uint64_t last_time_ = 0;
};

}  // namespace jtrace::session
