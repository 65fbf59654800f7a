// Event records: what a producer writes into its chunk. Whole slots of 16 bytes, native byte order. Header only
// (agent).
//
// Every record starts with RecordHeader; the kind says which struct it is (records.def lists the kinds, record_kinds.h
// says what is true of each). Ids are those of the document (trace/ids.h): small numbers from 1, 0 is none. `time` is
// CLOCK_MONOTONIC in ns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

enum class RecordKind : std::uint8_t {
#define RECORD(number, Name, ...) k##Name = number,
#include "trace/record/records.def"
#undef RECORD
};

struct RecordHeader {
  RecordKind kind;
  std::uint8_t slots;  // of the whole record, from 1
  std::uint16_t flags;
  std::uint32_t number;  // of what: records.def
  std::uint64_t time;
};
static_assert(sizeof(RecordHeader) == kSlotSize);

inline constexpr std::uint16_t kWithinCalls = 1;  // kThreadEnd: the JVM ends it where it is (System.exit)
inline constexpr std::uint16_t kIsVirtual = 1;    // kThreadSwitch: to a virtual thread
// kThreadEnd, kRuntimeInitDone, kRuntimeShutdown, kGcStart, kThreadSwitch
struct ThreadRecord {
  RecordHeader header;
  std::uint64_t thread;      // threadId
  std::uint64_t lost_until;  // kThreadSwitch: when events of it may have been lost last, on any carrier; 0: never
};

inline constexpr std::uint16_t kGapBegins = 1;
struct GapRecord {  // kGap
  RecordHeader header;
  std::uint64_t thread;  // threadId; where virtual ones run: the carrier's
  std::uint64_t from;    // the first was lost then, or later
};
static_assert(sizeof(GapRecord) == kGapRoom);

inline constexpr std::uint16_t kHasFigures = 1;     // kGcFinish: used and total are set
inline constexpr std::uint16_t kFiguresFollow = 2;  // kGcFinish: a kGcFigures record with the same number will come
struct GcFinishRecord {                             // kGcFinish, kGcFigures
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t used;   // bytes used of the heap after the collection
  std::uint64_t total;  // bytes committed
  std::uint64_t unused;
};

inline constexpr std::uint16_t kTimedOut = 1;  // kMonWaited
inline constexpr std::uint16_t kHasOwner = 2;  // kMonContendedEnter: `argument` is the owner's threadId (0: none)
inline constexpr std::uint16_t kSleep = 4;     // kMonWait, kMonWaited: Thread.sleep, no object
inline constexpr std::uint16_t kPark = 8;      // kMonWait, kMonWaited: LockSupport.park, `object` the blocker (0: none)
// kMonWaited, kMonContendedEntered: made while the trace was paused, for what may have begun in it.
inline constexpr std::uint16_t kWhilePaused = 16;
struct MonitorRecord {  // kMonWait, kMonWaited, kMonContendedEnter, kMonContendedEntered
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t object;    // objId
  std::uint64_t argument;  // kMonWait: timeout in ms (0: none); kMonContendedEnter: owner
  std::uint64_t owner;     // kMonWait with kPark: threadId of who owns the lock that is the blocker, 0: none
};

struct ObjAllocRecord {  // flags: the isArray code of trace.dtd (0, 2, 4..11)
  RecordHeader header;
  std::uint64_t thread;
  std::uint64_t object;
  std::uint64_t size;      // bytes
  std::uint64_t class_id;  // the class, or the element class where the code is 2; 0 for arrays of primitives
  std::uint64_t stack;     // id of a stack definition, 0 for none
  std::uint64_t site;      // where there is no stack: allocation_site(); 0 for none
};

// Where an object is allocated: a methodId and a line (0: not known; a line has 16 bits, JVMS 4.7.12).
constexpr std::uint64_t allocation_site(std::uint32_t method, std::uint32_t line) {
  return std::uint64_t{method} << 16 | (line & 0xffff);
}
constexpr std::uint64_t method_of_site(std::uint64_t site) { return site >> 16; }
constexpr std::int32_t line_of_site(std::uint64_t site) { return static_cast<std::int32_t>(site & 0xffff); }

struct ObjectRecord {  // kObjFree, kClassUnload
  RecordHeader header;
  std::uint64_t id;
  std::uint64_t thread;  // threadId of the thread that learned it, 0 unknown
};

// The header alone: of a method, a line, a call, a frame.
struct ProbeRecord {
  RecordHeader header;
};

// The same with --cpu-time. ReceiverRecord, LateEntryRecord and LateEntryOfRecord have the time in the same place.
struct CpuTimeRecord {
  RecordHeader header;
  std::uint64_t unused;
  std::uint64_t cpu_time;  // ns that the thread has had of a processor; 0: not known
};

inline constexpr std::uint16_t kLeavesFrame = 1;  // kThrow: the exception leaves the frame
struct ExceptionRecord {                          // kThrow, kCatch
  RecordHeader header;
  std::uint64_t object;  // objId, 0: not known
  std::uint64_t handle;  // the same for the same exception: its identity hash
};

struct CountRecord {  // kMethodCount
  RecordHeader header;
  std::uint64_t count;  // calls since the probes were put in
  std::uint64_t unused;
};

struct LateEntryRecord {  // kLateEntry
  RecordHeader header;
  std::uint64_t start;  // when the call began: after all that its thread has written
  std::uint64_t cpu_time;
};
static_assert(offsetof(LateEntryRecord, cpu_time) == offsetof(CpuTimeRecord, cpu_time));

struct LateEntryOfRecord {  // kLateEntryOf: begins as a LateEntryRecord
  RecordHeader header;
  std::uint64_t start;
  std::uint64_t cpu_time;
  std::uint64_t object;  // objId
  std::uint64_t unused;
};
static_assert(offsetof(LateEntryOfRecord, start) == offsetof(LateEntryRecord, start));
static_assert(offsetof(LateEntryOfRecord, cpu_time) == offsetof(LateEntryRecord, cpu_time));

inline constexpr std::uint16_t kResultPosition = 255;  // after the last of 255 arguments (JVMS 4.3.3)
inline constexpr std::int32_t kMostText = 128;         // chars of a string that are written
enum class ValueKind : std::uint64_t {
  kPrimitive = 0,  // `bits`: as the JVM has it on its stack
  kNull = 1,
  kObject = 2,   // `bits`: objId
  kText = 3,     // `bits`: id of a text's definition
  kUnknown = 4,  // an object of a class that is filtered out
};
struct ValueRecord {  // kValue
  RecordHeader header;
  std::uint64_t bits;
  ValueKind kind;
};

struct ReceiverRecord {  // kEntryOf, kReceiver
  RecordHeader header;
  std::uint64_t object;    // objId, 0: not known
  std::uint64_t cpu_time;  // kEntryOf with --cpu-time; else anything
};
static_assert(offsetof(ReceiverRecord, cpu_time) == offsetof(CpuTimeRecord, cpu_time));

template <class Record>
constexpr std::uint8_t slots_of() {
  static_assert(sizeof(Record) % kSlotSize == 0);
  return sizeof(Record) / kSlotSize;
}

}  // namespace jtrace::trace::record
