#include "session/document/call_events.h"

#include <utility>

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;
using trace::ClassId;
using trace::ObjectId;
using trace::ThreadId;

// None for a static method; unknown for others until a record gives it.
CallEvents::Receiver CallEvents::receiver_of(std::uint64_t method) const {
  if (!options_.receivers || !definitions_.is_static(method)) return {};
  return {ObjectId::none(), trace::Number(0)};
}

// Absent if it is not known: the kernel knows nothing of virtual threads.
trace::Number CallEvents::cpu_time_of(const TimedRecord& record) const {
  if (!options_.cpu_time || record.header().slots < record::slots_of<record::CpuTimeRecord>()) return {};
  const std::uint64_t cpu_time = record.as<record::CpuTimeRecord>().cpu_time;
  return cpu_time != 0 ? trace::Number(cpu_time) : trace::Number();
}

Result<> CallEvents::write_entry(const TimedRecord& record, std::uint64_t time, std::uint64_t object) {
  const std::uint32_t method = record.header().number;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(object, time));
  CallStack& stack = stacks_.of(record.thread);
  const OpenCall& call = stack.enter(method, object);
  Receiver receiver = receiver_of(method);
  if (object != 0) receiver = {ObjectId(object), sequences_.enter(object)};
  trace::List<trace::Value> values;
  if (!stack.values.empty())
    values = value_elements_.make(stack.values, method, definitions_.signature_of(method), false);
  stack.values.clear();
  return emitter_.emit(trace::MethodEntry{.threadIdRef = ThreadId(record.thread),
                                          .time = wall(time),
                                          .methodIdRef = trace::MethodId(method),
                                          .ticket = call.ticket,
                                          .objIdRef = receiver.object,
                                          .classIdRef = class_ref(method),
                                          .threadCpuTime = cpu_time_of(record),
                                          .sequenceCounter = receiver.sequence,
                                          .stackDepth = stack.frames(),
                                          .values = values});
}

void CallEvents::take_text(std::uint64_t id, record::TextDefinition text) {
  if (texts_.size() >= kMostTexts) texts_.erase(texts_.begin());
  texts_[id] = std::move(text);
}

Result<> CallEvents::take_value(const TimedRecord& any) {
  const auto& record = any.as<record::ValueRecord>();
  CallValue made{record.header.number, record.header.flags, record.kind, record.bits, {}, 0};
  if (made.kind == record::ValueKind::kText) {
    const auto text = texts_.find(record.bits);
    if (text == texts_.end()) {
      made.kind = record::ValueKind::kUnknown;
    } else {
      made.text = std::move(text->second.text);
      made.text_length = text->second.length;
      texts_.erase(text);
    }
  }
  if (made.kind == record::ValueKind::kObject)
    JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.bits, record.header.time));
  CallStack& stack = stacks_.of(any.thread);
  if (stack.values.size() < kMostValues) stack.values.push_back(std::move(made));
  return {};
}

Result<> CallEvents::take_receiver(const TimedRecord& any) {
  const std::uint64_t object = any.as<record::ReceiverRecord>().object;
  CallStack& stack = stacks_.of(any.thread);
  const std::size_t at = stack.find(any.header().number);
  if (object == 0 || at == stack.size() || stack.at(at).object != 0) return {};
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(object, any.header().time));
  stack.at(at).object = object;
  sequences_.enter(object);
  return {};
}

// The calls above the one that ends have ended without a record: constructors left by an exception of super(), and
// calls that an exception passed through.
Result<> CallEvents::write_end(const TimedRecord& record) {
  const record::RecordHeader& header = record.header();
  CallStack& stack = stacks_.of(record.thread);
  const std::size_t at =
      stack.find(header.number, header.kind == RecordKind::kReturn ? CallSide::kCaller : CallSide::kCallee);
  const std::vector<CallValue> given = std::exchange(stack.values, {});
  const CallStack::Leaving leaving = std::exchange(stack.leaving, {});
  const EndFigures now{header.time, cpu_time_of(record)};
  if (at == stack.size()) {
    if (!record::is_in(record::kFrameKinds, header.kind)) ++orphan_exits_;
    return end_calls_of(stack, header.number, now);
  }
  const bool unwinds = header.kind == RecordKind::kMethodUnwind;
  JTRACE_RETURN_IF_ERROR(end_down_to(stack, at + 1, now));
  trace::List<trace::Value> values;
  if (!given.empty() && header.kind == RecordKind::kMethodExit)
    values = value_elements_.make(given, header.number, definitions_.signature_of(header.number), true);
  if (unwinds) {
    const std::uint64_t exception = leaving.method == header.number ? leaving.object : 0;
    JTRACE_RETURN_IF_ERROR(definitions_.need_object(exception, header.time));
    values = value_elements_.make_exception(exception);
  }
  JTRACE_RETURN_IF_ERROR(write_end_of(stack, now, values));
  if (unwinds && definitions_.is_constructor(header.number))
    unwound_[record.thread] = {header.number, stack.size(), now};
  else if (!unwound_.empty()) unwound_.erase(record.thread);
  return {};
}

Result<> CallEvents::write_late_unwind(const TimedRecord& record, std::uint64_t end) {
  CallStack& stack = stacks_.of(record.thread);
  const std::size_t at = stack.find(record.header().number);
  if (at == stack.size()) {
    ++orphan_exits_;
    return {};
  }
  JTRACE_RETURN_IF_ERROR(end_down_to(stack, at, {end, {}}));
  unwound_.erase(record.thread);
  return {};
}

// Records that close the calls which an exception has left, before they make an event, need it; what comes after any
// other event of the thread would go back in time.
void CallEvents::forget_unwound(const TimedRecord& record) {
  switch (record.header().kind) {
    case RecordKind::kThrow:
      if ((record.header().flags & record::kLeavesFrame) != 0) return;
      break;
    case RecordKind::kThreadSwitch:
    case RecordKind::kMethodExit:
    case RecordKind::kMethodUnwind:
    case RecordKind::kLateUnwind:
    case RecordKind::kCatch:
    case RecordKind::kConstructor:
    case RecordKind::kValue: return;
    default: break;
  }
  unwound_.erase(record.thread);
}

// If the innermost call is a constructor whose super() or this() may be what the exception has left: no handler is
// allowed there, so it has left both.
CallEvents::Unwound* CallEvents::unwound_of(const CallStack& stack) {
  const auto found = unwound_.find(stack.thread());
  if (found == unwound_.end() || found->second.size != stack.size()) return nullptr;
  const OpenCall& call = stack.at(stack.size() - 1);
  const bool is_its_caller = call.side == CallSide::kCallee && definitions_.is_constructor(call.method) &&
                             definitions_.may_be_constructed_by(found->second.method, call.method);
  return is_its_caller ? &found->second : nullptr;
}

// They have ended without a record of their own: an exception has left them, at the latest now.
Result<> CallEvents::end_down_to(CallStack& stack, std::size_t size, const EndFigures& now) {
  while (stack.size() > size) {
    Unwound* const unwound = unwound_of(stack);
    const std::uint64_t method = stack.at(stack.size() - 1).method;
    JTRACE_RETURN_IF_ERROR(
        write_end_of(stack, unwound != nullptr ? unwound->end : now, value_elements_.make_exception(0)));
    if (unwound != nullptr) {
      unwound->size = stack.size();
      unwound->method = method;
    }
  }
  return {};
}

// Control is in a frame of the method, and in no method that it called. With calls, a frame that is unknown began
// before all open calls.
Result<> CallEvents::end_calls_of(CallStack& stack, std::uint32_t method, const EndFigures& now) {
  const std::size_t at = stack.find(method);
  const bool is_open = at != stack.size();
  if (options_.every_call && (is_open || traces(record::kCallEvent)))
    JTRACE_RETURN_IF_ERROR(end_down_to(stack, is_open ? at + 1 : 0, now));
  unwound_.erase(stack.thread());
  return {};
}

Result<> CallEvents::take_handler(const TimedRecord& record) {
  return end_calls_of(stacks_.of(record.thread), record.header().number, {record.header().time, cpu_time_of(record)});
}

Result<> CallEvents::take_constructor(const TimedRecord& record) {
  const std::uint32_t inside = record.header().number;
  CallStack& stack = stacks_.of(record.thread);
  for (;;) {
    const std::size_t top = stack.innermost_frame();
    if (top == stack.size() || stack.at(top).number == inside || !definitions_.is_constructor(stack.at(top).method)) {
      unwound_.erase(record.thread);
      return {};
    }
    JTRACE_RETURN_IF_ERROR(end_down_to(stack, top, {record.header().time, {}}));
  }
}

Result<> CallEvents::write_end_of(CallStack& stack, const EndFigures& at, trace::List<trace::Value> values) {
  const OpenCall call = stack.pop();
  if (call.ticket == 0) return {};
  const std::uint64_t time = at.time;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(stack.thread(), time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(call.method, time));
  if (call.side == CallSide::kCaller)
    return emitter_.emit(trace::MethodReturn{.threadIdRef = ThreadId(stack.thread()),
                                             .time = wall(time),
                                             .methodIdRef = trace::MethodId(call.method),
                                             .ticket = call.ticket,
                                             .objIdRef = callers_receiver_of(call.method),
                                             .classIdRef = class_ref(call.method),
                                             .threadCpuTime = at.cpu_time});
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(call.object, time));
  Receiver receiver = receiver_of(call.method);
  if (call.object != 0) receiver = {ObjectId(call.object), sequences_.leave(call.object)};
  return emitter_.emit(trace::MethodExit{.threadIdRef = ThreadId(stack.thread()),
                                         .time = wall(time),
                                         .ticket = call.ticket,
                                         .threadCpuTime = at.cpu_time,
                                         .methodIdRef = trace::MethodId(call.method),
                                         .objIdRef = receiver.object,
                                         .classIdRef = class_ref(call.method),
                                         .sequenceCounter = receiver.sequence,
                                         .values = values});
}

// A call as its caller sees it: the method that the instruction names. The method that runs may override it.
Result<> CallEvents::write_call(const TimedRecord& record) {
  const std::uint64_t time = record.header().time;
  const std::uint64_t method = definitions_.stands_for(record.header().number);
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  CallStack& stack = stacks_.of(record.thread);
  const OpenCall& call = stack.call(record.header().number, method);
  return emitter_.emit(trace::MethodCall{.threadIdRef = ThreadId(record.thread),
                                         .time = wall(time),
                                         .methodIdRef = trace::MethodId(method),
                                         .ticket = call.ticket,
                                         .objIdRef = callers_receiver_of(method),
                                         .classIdRef = class_ref(method),
                                         .threadCpuTime = cpu_time_of(record),
                                         .stackDepth = stack.frames()});
}

trace::ClassId CallEvents::class_ref(std::uint64_t method) const {
  const std::uint64_t id = definitions_.class_of(method);
  return id != 0 ? ClassId(id) : ClassId();
}

// The receiver as the caller sees it: none for static methods; for others it is not read.
ObjectId CallEvents::callers_receiver_of(std::uint64_t method) const {
  return definitions_.is_static(method) ? ObjectId::none() : ObjectId();
}

}  // namespace jtrace::session
