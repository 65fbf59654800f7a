// Event records: what a producer writes into its chunk, in whole slots of 16 bytes, native byte order. Header only
// (agent).
//
// Every record starts with RecordHeader; the kind determines the struct (records.def lists the kinds, record_kinds.h
// their properties). Ids are those of the document (trace/ids.h): small numbers from 1, 0 is none. `time` is
// CLOCK_MONOTONIC in ns.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

enum class RecordKind : std::uint8_t {
#define RECORD(number, Name, ...) k##Name = number,
#include "trace/record/records.def"
#undef RECORD
};

struct RecordHeader {
  RecordKind kind;
  std::uint8_t slots;  // length of the whole record, from 1
  std::uint16_t flags;
  std::uint32_t number;  // its meaning: records.def, column numbered
  std::uint64_t time;
};
static_assert(sizeof(RecordHeader) == kSlotSize);

// The first 8 bytes of a header as one number, in the byte order of the machine: bytecode writes them at once.
static_assert(std::endian::native == std::endian::little && offsetof(RecordHeader, kind) == 0);
inline constexpr unsigned kFlagsShift = 8 * offsetof(RecordHeader, flags);
inline constexpr unsigned kNumberShift = 8 * offsetof(RecordHeader, number);
static_assert(offsetof(RecordHeader, number) + sizeof(RecordHeader::number) == 8);
constexpr std::uint64_t header_word(RecordKind kind, std::uint8_t slots) {
  return static_cast<std::uint64_t>(kind) | std::uint64_t{slots} << 8 * offsetof(RecordHeader, slots);
}

inline constexpr std::uint16_t kWithinCalls = 1;  // kThreadEnd: the JVM ends it inside its calls (System.exit)
inline constexpr std::uint16_t kIsVirtual = 1;    // kThreadSwitch: to a virtual thread
// kThreadEnd, kRuntimeInitDone, kRuntimeShutdown, kGcStart, kThreadSwitch, kCalloutsEnd
struct ThreadRecord {
  RecordHeader header;
  std::uint64_t thread;  // threadId
  // kThreadSwitch: latest time at which events of it may have been lost, on any carrier; 0: never.
  std::uint64_t lost_until;
};

inline constexpr std::uint16_t kGapBegins = 1;
struct GapRecord {  // kGap
  RecordHeader header;
  std::uint64_t thread;  // threadId; the carrier's if virtual threads run on it
  std::uint64_t from;    // the first event was lost then, or later
};
static_assert(sizeof(GapRecord) == kGapRoom);

inline constexpr std::uint16_t kHasFigures = 1;     // kGcFinish: used and total are set
inline constexpr std::uint16_t kFiguresFollow = 2;  // kGcFinish: a kGcFigures record with the same number follows
inline constexpr std::uint16_t kHasUsed = 4;        // kGcFinish: `used` is set, also without kHasFigures
inline constexpr std::uint16_t kIsPartial = 8;      // kCycleEnd: it began before the trace, or before this was known
inline constexpr std::uint16_t kAnotherRuns = 16;   // kCycleEnd: pauses of the next one may have come before
struct GcFinishRecord {                             // kGcFinish, kGcFigures, kCycleEnd
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t used;   // bytes of the heap in use after the collection
  std::uint64_t total;  // bytes committed
  std::uint64_t unused;
};

// How the collectors' own counters (sun.gc.collector.N) name a collection. Minor, Major: of generational ZGC.
enum class CollectionKind : std::uint32_t { kYoung = 0, kFull = 1, kConcurrent = 2, kMinor = 3, kMajor = 4 };
inline constexpr std::uint32_t kCollectionKinds = 5;
inline constexpr std::string_view kCollectionKindNames[kCollectionKinds] = {"young", "full", "concurrent", "minor",
                                                                            "major"};
constexpr std::uint32_t bit_of(CollectionKind kind) { return std::uint32_t{1} << static_cast<std::uint32_t>(kind); }

inline constexpr std::uint16_t kHasCause = 1;       // kGcCause: `cause` is set
inline constexpr std::uint16_t kHasKinds = 2;       // ... and `kinds`
inline constexpr std::uint16_t kHasUsedBefore = 4;  // ... and `used_before`
// ... The cause is within another one: an earlier collection has not ended (sun.gc.lastCause is not "No GC").
inline constexpr std::uint16_t kWithinAnother = 8;
inline constexpr std::size_t kCauseRoom = 80;  // bytes of sun.gc.cause (gc/shared/collectedHeap.cpp), with its 0
struct GcCauseRecord {                         // kGcCause
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t used_before;  // bytes of the heap in use when the pause began, as far as the counters knew then
  std::uint32_t kinds;        // bit_of() what was counted in the pause; 0: nothing
  std::uint32_t unused;
  std::uint64_t unused_too;
  char cause[kCauseRoom];  // ends with a 0
};

inline constexpr std::uint16_t kTimedOut = 1;  // kMonWaited
inline constexpr std::uint16_t kHasOwner = 2;  // kMonContendedEnter: `argument` is the owner's threadId (0: none)
inline constexpr std::uint16_t kSleep = 4;     // kMonWait, kMonWaited: Thread.sleep, no object
inline constexpr std::uint16_t kPark = 8;  // kMonWait, kMonWaited: LockSupport.park, `object` is the blocker (0: none)
// kMonWaited, kMonContendedEntered: written while the trace was paused, because the wait may have begun before that.
inline constexpr std::uint16_t kWhilePaused = 16;
struct MonitorRecord {  // kMonWait, kMonWaited, kMonContendedEnter, kMonContendedEntered
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t object;    // objId
  std::uint64_t argument;  // kMonWait: timeout in ms (0: none); kMonContendedEnter: owner
  std::uint64_t owner;     // kMonWait with kPark: threadId of the owner of the lock that is the blocker, 0: none
};

struct ObjAllocRecord {  // flags: the isArray code of trace.dtd (0, 2, 4..11)
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t object;
  std::uint64_t size;      // bytes
  std::uint64_t class_id;  // the class, or the element class if the code is 2; 0 for arrays of primitives
  std::uint64_t stack;     // id of a stack definition, 0 for none
  std::uint64_t site;      // without a stack: allocation_site(); 0 for none
};

// The place of an allocation: a methodId and a line (0: not known; a line has 16 bits, JVMS 4.7.12).
constexpr std::uint64_t allocation_site(std::uint32_t method, std::uint32_t line) {
  return std::uint64_t{method} << 16 | (line & 0xffff);
}
constexpr std::uint64_t method_of_site(std::uint64_t site) { return site >> 16; }
constexpr std::int32_t line_of_site(std::uint64_t site) { return static_cast<std::int32_t>(site & 0xffff); }

struct ObjectRecord {  // kObjFree, kClassUnload
  RecordHeader header;
  std::uint64_t id;
  std::uint64_t thread;  // threadId of the thread that noticed it, 0 unknown
};

// Only the header: of a method, a line, a call, a frame.
struct CalloutRecord {
  RecordHeader header;
};

// The same with --cpu-time. ReceiverRecord, LateEntryRecord and LateEntryOfRecord have the time at the same offset.
struct CpuTimeRecord {
  RecordHeader header;
  std::uint64_t unused;
  std::uint64_t cpu_time;  // processor time of the thread in ns; 0: not known
};

inline constexpr std::uint16_t kLeavesFrame = 1;  // kThrow: the exception leaves the frame
// kCatch: what the handler does with the exception; without both it is not known
inline constexpr std::uint16_t kDropsException = 2;
inline constexpr std::uint16_t kUsesException = 4;
struct ExceptionRecord {  // kThrow, kCatch
  RecordHeader header;
  std::uint64_t object;  // objId, 0: not known
  std::uint32_t handle;  // the same for the same exception: its identity hash
  std::uint32_t line;    // of the athrow or the handler; 0: not known, or the exception comes from a callee
  std::uint64_t cause;   // objId of its cause, as of its first record or its athrow; 0: none, or not read
  std::uint64_t text;    // id of its message's definition, where it was asked for; 0: none, or not read
};

struct SuppressedRecord {  // kSuppressed
  RecordHeader header;
  std::uint64_t object;  // objId
  std::uint64_t by;      // objId of the exception that suppresses it (Throwable.addSuppressed)
};

struct CountRecord {  // kMethodCount
  RecordHeader header;
  std::uint64_t count;  // calls since the callouts were inserted
  std::uint64_t unused;
};

struct LateEntryRecord {  // kLateEntry
  RecordHeader header;
  std::uint64_t start;  // when the call began: not before the records that its thread wrote earlier
  std::uint64_t cpu_time;
};
static_assert(offsetof(LateEntryRecord, cpu_time) == offsetof(CpuTimeRecord, cpu_time));

struct LateEntryOfRecord {  // kLateEntryOf: begins like a LateEntryRecord
  RecordHeader header;
  std::uint64_t start;
  std::uint64_t cpu_time;
  std::uint64_t object;  // objId
  std::uint64_t unused;
};
static_assert(offsetof(LateEntryOfRecord, start) == offsetof(LateEntryRecord, start));
static_assert(offsetof(LateEntryOfRecord, cpu_time) == offsetof(LateEntryRecord, cpu_time));

struct LateUnwindRecord {  // kLateUnwind
  RecordHeader header;
  std::uint64_t end;  // when the call had ended, at the latest
  std::uint64_t unused;
};

inline constexpr std::uint16_t kResultPosition = 255;  // after the last of 255 arguments (JVMS 4.3.3)
inline constexpr std::int32_t kMostText = 128;         // chars of a string that are written
enum class ValueKind : std::uint64_t {
  kPrimitive = 0,  // `bits`: as on the JVM's stack
  kNull = 1,
  kObject = 2,   // `bits`: objId
  kText = 3,     // `bits`: id of a Text definition
  kUnknown = 4,  // an object of a class that is filtered out
  kBox = 5,      // and the next ones: a java.lang.Boolean ..., in the order of kBoxTypes; `bits`: its value
};
inline constexpr std::string_view kBoxTypes = "ZCBSIJFD";  // of the primitives in boxes (JVMS 4.3.2)
constexpr ValueKind box_kind(std::size_t index) {
  return static_cast<ValueKind>(static_cast<std::uint64_t>(ValueKind::kBox) + index);
}
// The type of the value in a box; '\0': it is no box.
constexpr char box_type(ValueKind kind) {
  const std::uint64_t index = static_cast<std::uint64_t>(kind) - static_cast<std::uint64_t>(ValueKind::kBox);
  return index < kBoxTypes.size() ? kBoxTypes[static_cast<std::size_t>(index)] : '\0';
}
struct ValueRecord {  // kValue
  RecordHeader header;
  std::uint64_t bits;
  ValueKind kind;
};

struct ReceiverRecord {  // kEntryOf, kReceiver
  RecordHeader header;
  std::uint64_t object;    // objId, 0: not known
  std::uint64_t cpu_time;  // kEntryOf with --cpu-time; otherwise undefined
};
static_assert(offsetof(ReceiverRecord, cpu_time) == offsetof(CpuTimeRecord, cpu_time));

template <class Record>
constexpr std::uint8_t slots_of() {
  static_assert(sizeof(Record) % kSlotSize == 0, "a record is a whole number of slots: add a reserved field");
  return sizeof(Record) / kSlotSize;
}

}  // namespace jtrace::trace::record
