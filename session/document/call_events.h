// CallEvents: methodEntry, methodExit, methodCall and methodReturn with their values and
// receivers, from the records of callouts; and the events within a frame
// (frame_events.cpp): line, throw, catch. It keeps a stack for every thread. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "session/document/call_stacks.h"
#include "session/document/event_part.h"
#include "session/document/object_sequences.h"

namespace jtrace::session {

class CallEvents : private EventPart {
 public:
  // `sequences`: borrowed.
  CallEvents(const BuilderContext& context, ObjectSequences& sequences) : EventPart(context), sequences_(sequences) {}

  Result<> write_entry(const TimedRecord& record, std::uint64_t time, std::uint64_t object);
  // methodExit or methodReturn. First writes the ends of the calls above it that have no record.
  Result<> write_end(const TimedRecord& record);
  // The methodExit of a call that an exception has ended at that time, or earlier.
  Result<> write_late_unwind(const TimedRecord& record, std::uint64_t end);
  Result<> write_call(const TimedRecord& record);
  Result<> write_line(const TimedRecord& record);
  // throw, catch. One throw for each frame that an exception leaves, is thrown in, or is caught in.
  Result<> write_exception(const TimedRecord& record);
  // An exception that another one suppresses.
  Result<> write_suppressed(const TimedRecord& record);
  // A value comes before the entry or the exit that it belongs to, the text of one before the value.
  Result<> take_value(const TimedRecord& record);
  void take_text(std::uint64_t id, trace::record::TextDefinition text);
  // The receiver of a constructor comes after its entry; its sequence is counted then.
  Result<> take_receiver(const TimedRecord& record);
  // A frame begins that is not in the document.
  void begin_frame(const TimedRecord& record) { stacks_.of(record.thread).enter_unrecorded(record.header().number); }
  // The method runs a handler: all its callees have ended.
  Result<> take_handler(const TimedRecord& record);
  // The thread is in no constructor above the innermost one of this method (0: in none at all).
  Result<> take_constructor(const TimedRecord& record);

  // Comes before any record that is no definition.
  void note(const TimedRecord& record) {
    if (!unwound_.empty()) [[unlikely]]
      forget_unwound(record);
  }

  CallStacks& stacks() { return stacks_; }
  // From here on the open calls are unknown.
  void forget_thread(std::uint64_t thread) {
    stacks_.of(thread).forget([this](const OpenCall& call) { abandon(call); });
  }
  void forget_all() {
    stacks_.forget_all([this](const OpenCall& call) { abandon(call); });
  }
  void end_thread(std::uint64_t thread) {
    forget_thread(thread);
    stacks_.end(thread);
  }

  void add_orphan_exit() { ++orphan_exits_; }
  // Exits whose entry was lost, or came before the trace.
  std::uint64_t orphan_exits() const { return orphan_exits_; }

 private:
  static constexpr std::size_t kMostTexts = 100'000;  // whose values were not lost
  static constexpr std::size_t kMostValues = 256;     // of a call: 255 arguments and a result

  struct EndFigures {
    std::uint64_t time = 0;
    trace::Number cpu_time;
  };
  // An exception has left a constructor, and the thread has had no other record since.
  struct Unwound {
    std::uint64_t method = 0;
    std::size_t size = 0;  // calls of the thread that are open
    EndFigures end;
  };
  // objIdRef and sequenceCounter of an entry or exit; absent if they are not known, or not wanted.
  struct Receiver {
    trace::ObjectId object;
    trace::Number sequence;
  };
  Result<> write_end_of(CallStack& stack, const EndFigures& at, trace::List<trace::Value> values);
  Result<> end_down_to(CallStack& stack, std::size_t size, const EndFigures& now);
  Result<> end_calls_of(CallStack& stack, std::uint32_t method, const EndFigures& now);
  void forget_unwound(const TimedRecord& record);
  Unwound* unwound_of(const CallStack& stack);
  Receiver receiver_of(std::uint64_t method) const;
  trace::ObjectId callers_receiver_of(std::uint64_t method) const;
  trace::Number cpu_time_of(const TimedRecord& record) const;
  trace::ClassId class_ref(std::uint64_t method) const;
  std::string take_text(std::uint64_t id);
  static trace::WordList ticket_of(CallStack& stack, std::uint32_t method);
  void abandon(const OpenCall& call) {
    if (call.object != 0) sequences_.abandon(call.object);
  }

  ObjectSequences& sequences_;
  CallStacks stacks_;
  std::unordered_map<std::uint64_t, Unwound> unwound_;            // by threadId; almost always empty
  std::map<std::uint64_t, trace::record::TextDefinition> texts_;  // of values that have not come yet
  ValueElements value_elements_;
  std::uint64_t orphan_exits_ = 0;
};

}  // namespace jtrace::session
