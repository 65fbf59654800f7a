// What an event record refers to by id: all that a file must define so that the record can be read there. One place
// that knows it for every kind of record. Header only, pure; the bytes may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "trace/record/definition.h"
#include "trace/record/event_record.h"

namespace jtrace::trace::record {

template <class Record>
bool read_record(std::span<const std::byte> bytes, Record& made) {
  if (bytes.size() < sizeof made) return false;
  std::memcpy(&made, bytes.data(), sizeof made);
  return true;
}

// A methodId may be a callee's (kStandsFor) as well. Threads are left out: their definitions go with their lives.
// `visit(DefinitionKind, id)` is called with ids that are not 0.
template <class Visit>
void for_each_reference(const RecordHeader& header, std::span<const std::byte> bytes, Visit&& visit) {
  const auto refer = [&](DefinitionKind kind, std::uint64_t id) {
    if (id != 0) visit(kind, id);
  };
  const auto method = [&] { refer(DefinitionKind::kMethod, header.number); };
  switch (header.kind) {
    case RecordKind::kMonWait:
    case RecordKind::kMonWaited:
    case RecordKind::kMonContendedEnter:
    case RecordKind::kMonContendedEntered:
      if (MonitorRecord of; read_record(bytes, of)) refer(DefinitionKind::kObject, of.object);
      return;
    case RecordKind::kObjAlloc:
      if (ObjAllocRecord of; read_record(bytes, of)) {
        refer(DefinitionKind::kClass, of.class_id);
        refer(DefinitionKind::kStack, of.stack);
        refer(DefinitionKind::kMethod, of.site >> 16);
      }
      return;
    case RecordKind::kThrow:
    case RecordKind::kCatch:
      method();
      if (ExceptionRecord of; read_record(bytes, of)) refer(DefinitionKind::kObject, of.object);
      return;
    case RecordKind::kEntryOf:
    case RecordKind::kReceiver:
      method();
      if (ReceiverRecord of; read_record(bytes, of)) refer(DefinitionKind::kObject, of.object);
      return;
    case RecordKind::kLateEntryOf:
      method();
      if (LateEntryOfRecord of; read_record(bytes, of)) refer(DefinitionKind::kObject, of.object);
      return;
    case RecordKind::kValue:
      method();
      if (ValueRecord of; read_record(bytes, of)) {
        if (of.kind == ValueKind::kObject) refer(DefinitionKind::kObject, of.bits);
        if (of.kind == ValueKind::kText) refer(DefinitionKind::kText, of.bits);
      }
      return;
    case RecordKind::kMethodEntry:
    case RecordKind::kMethodExit:
    case RecordKind::kMethodUnwind:
    case RecordKind::kLine:
    case RecordKind::kMethodCount:
    case RecordKind::kLateEntry:
    case RecordKind::kCall:
    case RecordKind::kReturn:
    case RecordKind::kFrameBegin:
    case RecordKind::kFrameEnd:
    case RecordKind::kHandler:
    case RecordKind::kConstructor: return method();
    case RecordKind::kObjFree:  // written where the file has told of the object, or class, otherwise
    case RecordKind::kClassUnload:
    case RecordKind::kPadding:
    case RecordKind::kThreadEnd:
    case RecordKind::kGcStart:
    case RecordKind::kGcFinish:
    case RecordKind::kGcFigures:
    case RecordKind::kRuntimeInitDone:
    case RecordKind::kRuntimeShutdown:
    case RecordKind::kThreadSwitch:
    case RecordKind::kGap: return;
  }
}

}  // namespace jtrace::trace::record
