#include "session/document/object_events.h"

#include "trace/record/record_kinds.h"

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;
using trace::ClassId;
using trace::ObjectId;
using trace::ThreadId;

Result<> ObjectEvents::write_alloc(const record::ObjAllocRecord& record) {
  const std::uint64_t time = record.header.time;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, time));
  JTRACE_RETURN_IF_ERROR(definitions_.need_class(record.class_id, time));
  trace::Text context;
  if (record.stack != 0) {
    JTRACE_ASSIGN_OR_RETURN(const std::string_view text, definitions_.context(record.stack, time));
    context = text;
  } else if (record.site != 0) {
    JTRACE_ASSIGN_OR_RETURN(const std::string_view text, definitions_.context_of_site(record.site, time));
    context = text;
  }
  const auto is_array = static_cast<std::uint8_t>(record.header.flags);
  definitions_.allocated(record.object, {record.class_id, record.size, is_array}, traces(record::kObjFreeEvent));
  return emitter_.emit(trace::ObjAlloc{.threadIdRef = ThreadId(record.thread),
                                       .time = wall(time),
                                       .isArray = record.header.flags,
                                       .transientObjId = ObjectId(record.object),
                                       .objId = ObjectId(record.object),
                                       .size = record.size,
                                       .classIdRef = record.class_id != 0 ? ClassId(record.class_id) : ClassId(),
                                       .contextData = context});
}

Result<> ObjectEvents::take_end(const record::ObjectRecord& record) {
  if (!options_.nested_frees || kept_ends_.size() >= kMostKept) return write_end(record);
  kept_ends_.push_back(record);
  return {};
}

Result<> ObjectEvents::write_kept_ends() {
  for (; !kept_ends_.empty(); kept_ends_.pop_front()) JTRACE_RETURN_IF_ERROR(write_end(kept_ends_.front()));
  return {};
}

// Methods of an unloaded class still have their counts, so its definition stays, for a later document.
Result<> ObjectEvents::write_end(const record::ObjectRecord& record) {
  const bool is_class = record::ended_by(record.header.kind) == record::RecordEnds::kClass;
  if (!is_class && options_.receivers && sequences_.holds_end(record.id)) return {};
  const bool known = is_class ? definitions_.has_class(record.id) : definitions_.has_object(record.id);
  if (is_class && !traces(record::kMethodCountEvent)) definitions_.forget_class(record.id);
  if (is_class) definitions_.note_unloaded(record.id);
  else definitions_.forget_object(record.id);
  const trace::Number sequence =
      !is_class && options_.receivers ? trace::Number(sequences_.end(record.id)) : trace::Number();
  if (!known) return {};
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  const ThreadId thread = record.thread != 0 ? ThreadId(record.thread) : ThreadId();
  const trace::Time time = wall(record.header.time);
  if (is_class && traces(record::kMethodCountEvent))
    JTRACE_RETURN_IF_ERROR(definitions_.need_methods_of(record.id, record.header.time));
  if (is_class)
    return emitter_.emit(trace::ClassUnload{.threadIdRef = thread, .time = time, .classIdRef = ClassId(record.id)});
  return emitter_.emit(trace::ObjFree{
      .threadIdRef = thread, .time = time, .objIdRef = ObjectId(record.id), .sequenceCounter = sequence});
}

Result<> ObjectEvents::write_due_ends(std::uint64_t time) {
  if (!sequences_.has_due()) return {};
  for (const std::uint64_t object : sequences_.take_due()) {
    record::ObjectRecord end{.id = object};
    end.header = {RecordKind::kObjFree, record::slots_of<record::ObjectRecord>(), 0, 0, time};
    JTRACE_RETURN_IF_ERROR(write_end(end));
  }
  return {};
}

}  // namespace jtrace::session
