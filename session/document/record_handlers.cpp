// One handler for each row of trace/record/records.def, in its order: it makes the elements of that kind of record. A
// row without a handler does not link.
#include "session/document/event_builder.h"
#include "trace/clock_option.h"
#include "trace/option_keys.h"

namespace jtrace::session {

namespace record = trace::record;

// VMDeath comes on a thread (DestroyJavaVM) whose ThreadEnd came before; then the record has no thread.
template <class Element>
Result<> EventBuilder::write_runtime(const record::ThreadRecord& record) {
  if (ended_threads_.contains(record.thread)) return emitter_.emit(Element{.time = wall(record.header.time)});
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  return emitter_.emit(Element{.threadIdRef = trace::ThreadId(record.thread), .time = wall(record.header.time)});
}

Result<> EventBuilder::on_Padding(const TimedRecord&, const record::CalloutRecord&) { return {}; }
Result<> EventBuilder::on_ThreadEnd(const TimedRecord&, const record::ThreadRecord& record) {
  return write_thread_end(record);
}
Result<> EventBuilder::on_GcStart(const TimedRecord&, const record::ThreadRecord& record) {
  return collections_.write_start(record);
}
Result<> EventBuilder::on_GcFinish(const TimedRecord&, const record::GcFinishRecord& record) {
  return collections_.take_finish(record);
}
Result<> EventBuilder::on_GcFigures(const TimedRecord&, const record::GcFinishRecord&) {
  // they came too late
  return {};
}
Result<> EventBuilder::on_CycleEnd(const TimedRecord&, const record::GcFinishRecord& record) {
  return collections_.write_collection(record);
}
Result<> EventBuilder::on_GcCause(const TimedRecord&, const record::GcCauseRecord& record) {
  collections_.take_cause(record);
  return {};
}
Result<> EventBuilder::on_MonWait(const TimedRecord&, const record::MonitorRecord& record) {
  return waits_.write_wait(record);
}
Result<> EventBuilder::on_MonWaited(const TimedRecord&, const record::MonitorRecord& record) {
  return waits_.write_waited(record);
}
Result<> EventBuilder::on_MonContendedEnter(const TimedRecord&, const record::MonitorRecord& record) {
  return waits_.write_enter(record);
}
Result<> EventBuilder::on_MonContendedEntered(const TimedRecord&, const record::MonitorRecord& record) {
  return waits_.write_entered(record);
}
Result<> EventBuilder::on_ObjAlloc(const TimedRecord&, const record::ObjAllocRecord& record) {
  return objects_.write_alloc(record);
}
Result<> EventBuilder::on_ObjFree(const TimedRecord&, const record::ObjectRecord& record) {
  return objects_.take_end(record);
}
Result<> EventBuilder::on_ClassUnload(const TimedRecord&, const record::ObjectRecord& record) {
  return objects_.take_end(record);
}
Result<> EventBuilder::on_RuntimeInitDone(const TimedRecord&, const record::ThreadRecord& record) {
  return write_runtime<trace::RuntimeInitDone>(record);
}
Result<> EventBuilder::on_RuntimeShutdown(const TimedRecord&, const record::ThreadRecord& record) {
  return write_runtime<trace::RuntimeShutdown>(record);
}
Result<> EventBuilder::on_ThreadSwitch(const TimedRecord&, const record::ThreadRecord& record) {
  return losses_.write_of_switch(record);
}
Result<> EventBuilder::on_Gap(const TimedRecord&, const record::GapRecord& record) { return losses_.write(record); }
Result<> EventBuilder::on_MethodEntry(const TimedRecord& any, const record::CalloutRecord& record) {
  return calls_.write_entry(any, record.header.time, 0);
}
Result<> EventBuilder::on_MethodExit(const TimedRecord& any, const record::CalloutRecord&) {
  return calls_.write_end(any);
}
Result<> EventBuilder::on_MethodUnwind(const TimedRecord& any, const record::CalloutRecord&) {
  return calls_.write_end(any);
}
Result<> EventBuilder::on_Line(const TimedRecord& any, const record::CalloutRecord&) { return calls_.write_line(any); }
Result<> EventBuilder::on_Throw(const TimedRecord& any, const record::ExceptionRecord&) {
  return calls_.write_exception(any);
}
Result<> EventBuilder::on_Catch(const TimedRecord& any, const record::ExceptionRecord&) {
  return calls_.write_exception(any);
}
Result<> EventBuilder::on_Suppressed(const TimedRecord& any, const record::SuppressedRecord&) {
  return calls_.write_suppressed(any);
}
Result<> EventBuilder::on_MethodCount(const TimedRecord&, const record::CountRecord& record) {
  return write_count(record);
}
Result<> EventBuilder::on_LateEntry(const TimedRecord& any, const record::LateEntryRecord& record) {
  return calls_.write_entry(any, record.start, 0);
}
Result<> EventBuilder::on_Value(const TimedRecord& any, const record::ValueRecord&) { return calls_.take_value(any); }
Result<> EventBuilder::on_EntryOf(const TimedRecord& any, const record::ReceiverRecord& record) {
  return calls_.write_entry(any, record.header.time, record.object);
}
Result<> EventBuilder::on_Receiver(const TimedRecord& any, const record::ReceiverRecord&) {
  return calls_.take_receiver(any);
}
Result<> EventBuilder::on_LateEntryOf(const TimedRecord& any, const record::LateEntryOfRecord& record) {
  return calls_.write_entry(any, record.start, record.object);
}
Result<> EventBuilder::on_LateUnwind(const TimedRecord& any, const record::LateUnwindRecord& record) {
  return calls_.write_late_unwind(any, record.end);
}
Result<> EventBuilder::on_Call(const TimedRecord& any, const record::CalloutRecord&) { return calls_.write_call(any); }
Result<> EventBuilder::on_Return(const TimedRecord& any, const record::CalloutRecord&) { return calls_.write_end(any); }
Result<> EventBuilder::on_FrameBegin(const TimedRecord& any, const record::CalloutRecord&) {
  calls_.begin_frame(any);
  return {};
}
Result<> EventBuilder::on_FrameEnd(const TimedRecord& any, const record::CalloutRecord&) {
  return calls_.write_end(any);
}
Result<> EventBuilder::on_Handler(const TimedRecord& any, const record::CalloutRecord&) {
  return calls_.take_handler(any);
}
Result<> EventBuilder::on_Constructor(const TimedRecord& any, const record::CalloutRecord&) {
  return calls_.take_constructor(any);
}
Result<> EventBuilder::on_CalloutsEnd(const TimedRecord&, const record::ThreadRecord& record) {
  return emitter_.emit(
      trace::Option{.key = trace::kCallsEndKey, .value = trace::seconds_text(wall(record.header.time).ns())});
}

}  // namespace jtrace::session
