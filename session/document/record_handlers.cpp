// What becomes of each kind of record: one handler for each row of trace/record/records.def, in its order. A row
// without one does not link.
#include "session/document/event_builder.h"

namespace jtrace::session {

namespace record = trace::record;

// VMDeath comes on a thread (DestroyJavaVM) whose ThreadEnd has come before: then nobody's.
template <class Element>
Result<> EventBuilder::write_runtime(const record::ThreadRecord& record) {
  if (ended_threads_.contains(record.thread)) return emitter_.emit(Element{.time = wall(record.header.time)});
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  return emitter_.emit(Element{.threadIdRef = trace::ThreadId(record.thread), .time = wall(record.header.time)});
}

Result<> EventBuilder::on_Padding(const Record&, const record::ProbeRecord&) { return {}; }
Result<> EventBuilder::on_ThreadEnd(const Record&, const record::ThreadRecord& record) {
  return write_thread_end(record);
}
Result<> EventBuilder::on_GcStart(const Record&, const record::ThreadRecord& record) { return write_gc_start(record); }
Result<> EventBuilder::on_GcFinish(const Record&, const record::GcFinishRecord& record) {
  return start_gc_finish(record);
}
Result<> EventBuilder::on_GcFigures(const Record&, const record::GcFinishRecord&) {
  // they came too late
  return {};
}
Result<> EventBuilder::on_MonWait(const Record&, const record::MonitorRecord& record) { return write_monitor(record); }
Result<> EventBuilder::on_MonWaited(const Record&, const record::MonitorRecord& record) {
  return write_monitor(record);
}
Result<> EventBuilder::on_MonContendedEnter(const Record&, const record::MonitorRecord& record) {
  return write_monitor(record);
}
Result<> EventBuilder::on_MonContendedEntered(const Record&, const record::MonitorRecord& record) {
  return write_monitor(record);
}
Result<> EventBuilder::on_ObjAlloc(const Record&, const record::ObjAllocRecord& record) { return write_alloc(record); }
Result<> EventBuilder::on_ObjFree(const Record& any, const record::ObjectRecord&) { return end_object(any); }
Result<> EventBuilder::on_ClassUnload(const Record& any, const record::ObjectRecord&) { return end_object(any); }
Result<> EventBuilder::on_RuntimeInitDone(const Record&, const record::ThreadRecord& record) {
  return write_runtime<trace::RuntimeInitDone>(record);
}
Result<> EventBuilder::on_RuntimeShutdown(const Record&, const record::ThreadRecord& record) {
  return write_runtime<trace::RuntimeShutdown>(record);
}
Result<> EventBuilder::on_ThreadSwitch(const Record&, const record::ThreadRecord& record) {
  return take_switch(record);
}
Result<> EventBuilder::on_Gap(const Record&, const record::GapRecord& record) {
  return write_gap({record.thread, record.from, record.header.time, record.header.number});
}
Result<> EventBuilder::on_MethodEntry(const Record& any, const record::ProbeRecord& record) {
  return write_entry(any, record.header.time, 0);
}
Result<> EventBuilder::on_MethodExit(const Record& any, const record::ProbeRecord&) { return write_end(any); }
Result<> EventBuilder::on_MethodUnwind(const Record& any, const record::ProbeRecord&) { return write_end(any); }
Result<> EventBuilder::on_Line(const Record& any, const record::ProbeRecord&) { return write_line(any); }
Result<> EventBuilder::on_Throw(const Record& any, const record::ExceptionRecord&) { return write_exception(any); }
Result<> EventBuilder::on_Catch(const Record& any, const record::ExceptionRecord&) { return write_exception(any); }
Result<> EventBuilder::on_MethodCount(const Record&, const record::CountRecord& record) { return write_count(record); }
Result<> EventBuilder::on_LateEntry(const Record& any, const record::LateEntryRecord& record) {
  return write_entry(any, record.start, 0);
}
Result<> EventBuilder::on_Value(const Record& any, const record::ValueRecord&) { return take_value(any); }
Result<> EventBuilder::on_EntryOf(const Record& any, const record::ReceiverRecord& record) {
  return write_entry(any, record.header.time, record.object);
}
Result<> EventBuilder::on_Receiver(const Record& any, const record::ReceiverRecord&) { return take_receiver(any); }
Result<> EventBuilder::on_LateEntryOf(const Record& any, const record::LateEntryOfRecord& record) {
  return write_entry(any, record.start, record.object);
}
Result<> EventBuilder::on_Call(const Record& any, const record::ProbeRecord&) { return write_call(any); }
Result<> EventBuilder::on_Return(const Record& any, const record::ProbeRecord&) { return write_end(any); }
Result<> EventBuilder::on_FrameBegin(const Record& any, const record::ProbeRecord& record) {
  calls_.of(any.thread).enter_untold(record.header.number);
  return {};
}
Result<> EventBuilder::on_FrameEnd(const Record& any, const record::ProbeRecord&) { return write_end(any); }
Result<> EventBuilder::on_Handler(const Record& any, const record::ProbeRecord& record) {
  return end_calls_of(calls_.of(any.thread), record.header.number, {record.header.time, cpu_time_of(any)});
}
Result<> EventBuilder::on_Constructor(const Record& any, const record::ProbeRecord& record) {
  return end_constructors(calls_.of(any.thread), record.header.number, {record.header.time, {}});
}

}  // namespace jtrace::session
