// The properties of each kind of record (records.def), for the code that writes, merges, keeps or reads them.
// Constants; the agent uses them too. Kinds without a row (bytes of a foreign process) have no slots and belong to no
// set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "trace/record/event_record.h"

namespace jtrace::trace::record {

enum class RecordRole : std::uint8_t { kEvent, kPart, kFrame, kControl };
enum class RecordLoss : std::uint8_t { kCounted, kSilent };
enum class RecordWriter : std::uint8_t { kBytecode, kNative, kAgent };
enum class RecordNumber : std::uint8_t { kNothing, kMethod, kCollection, kLost };
enum class RecordEnds : std::uint8_t { kNothing, kThread, kObject, kClass };

struct RecordTraits {
  RecordKind kind;
  std::uint8_t slots;      // at least
  std::uint8_t cpu_slots;  // with --cpu-time
  RecordRole role;
  RecordLoss loss;
  RecordWriter writer;
  RecordNumber numbered;
  RecordEnds ends;
  const char* name;         // without the k
  const char* struct_name;  // of event_record.h
  const char* text;
};

inline constexpr RecordTraits kRecords[] = {
#define RECORD(number, Name, Struct, CpuStruct, role, loss, writer, numbered, ends, text) \
  {RecordKind::k##Name,                                                                   \
   slots_of<Struct>(),                                                                    \
   slots_of<CpuStruct>(),                                                                 \
   RecordRole::k##role,                                                                   \
   RecordLoss::k##loss,                                                                   \
   RecordWriter::k##writer,                                                               \
   RecordNumber::k##numbered,                                                             \
   RecordEnds::k##ends,                                                                   \
   #Name,                                                                                 \
   #Struct,                                                                               \
   text},
#include "trace/record/records.def"
#undef RECORD
};

constexpr bool is_record_kind(RecordKind kind) { return static_cast<std::size_t>(kind) < std::size(kRecords); }
// `kind` must be a row.
constexpr const RecordTraits& traits_of(RecordKind kind) { return kRecords[static_cast<std::size_t>(kind)]; }

// What a record of this kind ends; of no row: nothing.
constexpr RecordEnds ended_by(RecordKind kind) {
  return is_record_kind(kind) ? traits_of(kind).ends : RecordEnds::kNothing;
}

// The least number of slots of a record of this kind; 0: there is no such row.
constexpr std::uint8_t least_slots(RecordKind kind) { return is_record_kind(kind) ? traits_of(kind).slots : 0; }
// The number of bytes of the record that a callout writes.
constexpr std::uint32_t size_of(RecordKind kind, bool cpu_time) {
  return std::uint32_t{cpu_time ? traits_of(kind).cpu_slots : traits_of(kind).slots} * kSlotSize;
}

// A set of kinds: one bit for each.
using RecordKinds = std::uint64_t;
template <class Condition>
constexpr RecordKinds kinds_with(Condition condition) {
  RecordKinds kinds = 0;
  for (const RecordTraits& each : kRecords)
    if (condition(each)) kinds |= RecordKinds{1} << static_cast<unsigned>(each.kind);
  return kinds;
}
constexpr bool is_in(RecordKinds kinds, RecordKind kind) {
  return static_cast<unsigned>(kind) < 64 && (kinds >> static_cast<unsigned>(kind) & 1) != 0;
}
// Kinds that make an element of their own.
inline constexpr RecordKinds kElementKinds =
    kinds_with([](const RecordTraits& each) { return each.role == RecordRole::kEvent; });
// Kinds that describe a frame.
inline constexpr RecordKinds kFrameKinds =
    kinds_with([](const RecordTraits& each) { return each.role == RecordRole::kFrame; });
// Kinds that count as an event if they are lost.
inline constexpr RecordKinds kCountedKinds =
    kinds_with([](const RecordTraits& each) { return each.loss == RecordLoss::kCounted; });
// Kinds written by callouts: of the thread that runs on the producer, with a method as their number.
inline constexpr RecordKinds kCalloutKinds =
    kinds_with([](const RecordTraits& each) { return each.writer != RecordWriter::kAgent; });
// Kinds that say that an object or a class is gone. They are read long after it was freed.
inline constexpr RecordKinds kFreeKinds = kinds_with(
    [](const RecordTraits& each) { return each.ends == RecordEnds::kObject || each.ends == RecordEnds::kClass; });

// Bytes: of any record, and of those that bytecode writes.
inline constexpr std::uint32_t kLargestRecord = [] {
  std::uint32_t slots = 0;
  for (const RecordTraits& each : kRecords) slots = std::max<std::uint32_t>({slots, each.slots, each.cpu_slots});
  return slots * kSlotSize;
}();
inline constexpr std::uint32_t kLargestOfBytecode = [] {
  std::uint32_t slots = 0;
  for (const RecordTraits& each : kRecords)
    if (each.writer == RecordWriter::kBytecode) slots = std::max<std::uint32_t>({slots, each.slots, each.cpu_slots});
  return slots * kSlotSize;
}();

// Conditions that all rows must meet.
static_assert(std::size(kRecords) <= 64);  // kCountedKinds
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(kRecords); ++i) {
        const RecordTraits& each = kRecords[i];
        if (static_cast<std::size_t>(each.kind) != i) return false;  // unique and dense
        if (each.slots == 0 || each.cpu_slots < each.slots) return false;
        if (each.role == RecordRole::kEvent && each.loss != RecordLoss::kCounted) return false;
        if (each.role == RecordRole::kFrame && each.loss != RecordLoss::kSilent) return false;
        if (each.writer != RecordWriter::kAgent && each.numbered != RecordNumber::kMethod) return false;
      }
      return true;
    }(),
    "a row of records.def: its number is its place (a new one stands at the end), or its columns contradict each "
    "other");

}  // namespace jtrace::trace::record
