// The ids in an event record: everything that a file must define so that the record can be read in it. Header only,
// pure; the bytes may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "trace/record/definition.h"
#include "trace/record/record_kinds.h"

namespace jtrace::trace::record {

template <class Record>
bool read_record(std::span<const std::byte> bytes, Record& made) {
  if (bytes.size() < sizeof made) return false;
  std::memcpy(&made, bytes.data(), sizeof made);
  return true;
}

// Calls `visit(DefinitionKind, id)` for each id in the fields of a record: an overload for each struct of
// event_record.h, so that a missing one does not compile. Threads are left out: their definitions are written with
// their starts.
template <class Visit>
void visit_fields(const ThreadRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const GapRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const GcFinishRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const GcCauseRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const CalloutRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const CountRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const LateEntryRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const LateUnwindRecord&, Visit&&) {}
template <class Visit>
void visit_fields(const ObjectRecord&, Visit&&) {
}  // written if the file has defined the object, or class, in another way
template <class Visit>
void visit_fields(const MonitorRecord& of, Visit&& visit) {
  visit(DefinitionKind::kObject, of.object);
}
template <class Visit>
void visit_fields(const ObjAllocRecord& of, Visit&& visit) {
  visit(DefinitionKind::kClass, of.class_id);
  visit(DefinitionKind::kStack, of.stack);
  visit(DefinitionKind::kMethod, method_of_site(of.site));
}
template <class Visit>
void visit_fields(const ExceptionRecord& of, Visit&& visit) {
  visit(DefinitionKind::kObject, of.object);
  visit(DefinitionKind::kObject, of.cause);
  visit(DefinitionKind::kText, of.text);
}
template <class Visit>
void visit_fields(const SuppressedRecord& of, Visit&& visit) {
  visit(DefinitionKind::kObject, of.object);
  visit(DefinitionKind::kObject, of.by);
}
template <class Visit>
void visit_fields(const ReceiverRecord& of, Visit&& visit) {
  visit(DefinitionKind::kObject, of.object);
}
template <class Visit>
void visit_fields(const LateEntryOfRecord& of, Visit&& visit) {
  visit(DefinitionKind::kObject, of.object);
}
template <class Visit>
void visit_fields(const ValueRecord& of, Visit&& visit) {
  if (of.kind == ValueKind::kObject) visit(DefinitionKind::kObject, of.bits);
  if (of.kind == ValueKind::kText) visit(DefinitionKind::kText, of.bits);
}

// A methodId may also be a callee's (kStandsFor). `visit(DefinitionKind, id)` is called only with ids that are not 0.
template <class Visit>
void for_each_reference(const RecordHeader& header, std::span<const std::byte> bytes, Visit&& visit) {
  if (!is_record_kind(header.kind)) return;
  const auto refer = [&](DefinitionKind kind, std::uint64_t id) {
    if (id != 0) visit(kind, id);
  };
  if (traits_of(header.kind).numbered == RecordNumber::kMethod) refer(DefinitionKind::kMethod, header.number);
  switch (header.kind) {
#define RECORD(number, Name, Struct, ...)                           \
  case RecordKind::k##Name:                                         \
    if (Struct of; read_record(bytes, of)) visit_fields(of, refer); \
    return;
#include "trace/record/records.def"
#undef RECORD
  }
}

}  // namespace jtrace::trace::record
