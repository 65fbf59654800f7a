// Events within a frame: line, throw, catch.
#include "session/document/call_events.h"
#include "trace/exception_value.h"
#include "trace/option_keys.h"

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;
using trace::ObjectId;
using trace::ThreadId;

namespace {

trace::Text handler_of(std::uint16_t flags) {
  if ((flags & record::kDropsException) != 0) return trace::kHandlerDrops;
  return (flags & record::kUsesException) != 0 ? trace::Text(trace::kHandlerUses) : trace::Text();
}

}  // namespace

// The ticket of the innermost call of the method; none if entries are not traced.
trace::WordList CallEvents::ticket_of(CallStack& stack, std::uint32_t method) {
  const std::size_t at = stack.find(method);
  const std::uint64_t ticket = at < stack.size() ? stack.at(at).ticket : 0;
  return ticket != 0 ? trace::WordList(ticket) : trace::WordList();
}

Result<> CallEvents::write_line(const TimedRecord& record) {
  const std::uint64_t time = record.header().time;
  const std::uint32_t method = record.header().number;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  return emitter_.emit(trace::Line{.threadId = ThreadId(record.thread),
                                   .time = wall(time),
                                   .line_number = record.header().flags,
                                   .file_name = definitions_.source_of(method),
                                   .methodIdRef = trace::MethodId(method),
                                   .ticket = ticket_of(stacks_.of(record.thread), method),
                                   .threadCpuTime = cpu_time_of(record)});
}

// A message as the document has it: cut after record::kMostText characters.
std::string CallEvents::take_text(std::uint64_t id) {
  const auto found = texts_.find(id);
  if (id == 0 || found == texts_.end()) return {};
  std::string text = std::move(found->second.text);
  if (found->second.length > static_cast<std::uint32_t>(record::kMostText)) text += "...";
  texts_.erase(found);
  return text;
}

Result<> CallEvents::write_exception(const TimedRecord& any) {
  const auto& record = any.as<record::ExceptionRecord>();
  const std::uint32_t method = record.header.number;
  const bool is_catch = record.header.kind == RecordKind::kCatch;
  const std::uint64_t time = record.header.time;
  CallStack& stack = stacks_.of(any.thread);
  const CallStack::Thrown here{method, record.handle};
  const bool is_noted = stack.thrown == here;
  const bool leaves = (record.header.flags & record::kLeavesFrame) != 0;
  if (is_catch || leaves) JTRACE_RETURN_IF_ERROR(end_calls_of(stack, method, {time, {}}));
  stack.thrown = is_catch || leaves ? CallStack::Thrown() : here;
  stack.leaving = leaves ? CallStack::Leaving{method, record.object} : CallStack::Leaving();
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(any.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_method(method, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.object, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.cause, time));
  const std::string message = take_text(record.text);
  const ObjectId object = record.object != 0 ? ObjectId(record.object) : ObjectId::unavailable();
  const trace::Number line = record.line != 0 ? trace::Number(record.line) : trace::Number();
  const trace::WordList ticket = ticket_of(stack, method);
  const bool wants_throw = traces(record::kThrowEvent);
  if (wants_throw && (!is_noted || (!is_catch && !leaves)))
    JTRACE_RETURN_IF_ERROR(
        emitter_.emit(trace::Throw{.threadId = ThreadId(any.thread),
                                   .time = wall(time),
                                   .objIdRef = object,
                                   .objHandle = record.handle,
                                   .methodIdRef = trace::MethodId(method),
                                   .ticket = ticket,
                                   .lineNumber = is_catch ? trace::Number() : line,
                                   .causeIdRef = record.cause != 0 ? ObjectId(record.cause) : ObjectId(),
                                   .message = message.empty() ? trace::Text() : trace::Text(message)}));
  if (!is_catch) return {};
  return emitter_.emit(trace::Catch{.threadIdRef = ThreadId(any.thread),
                                    .time = wall(time),
                                    .objIdRef = object,
                                    .objHandle = record.handle,
                                    .methodIdRef = trace::MethodId(method),
                                    .ticket = ticket,
                                    .lineNumber = line,
                                    .handler = handler_of(record.header.flags)});
}

Result<> CallEvents::write_suppressed(const TimedRecord& any) {
  const auto& record = any.as<record::SuppressedRecord>();
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.object, record.header.time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_object(record.by, record.header.time));
  const std::string value = std::to_string(record.object) + " by " + std::to_string(record.by);
  return emitter_.emit(trace::Option{.key = trace::kSuppressedKey, .value = value});
}

}  // namespace jtrace::session
