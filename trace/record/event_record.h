// Event records: what a producer writes into its chunk. Whole slots of 16 bytes, native byte order. Header only
// (agent).
//
// Every record starts with RecordHeader; the kind says which struct it is. Ids are those of the document (trace/ids.h):
// small numbers from 1, 0 is none. `time` is CLOCK_MONOTONIC in ns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

enum class RecordKind : std::uint8_t {
  kPadding = 0,  // slots to skip
  kThreadEnd = 1,
  kGcStart = 2,
  kGcFinish = 3,
  kGcFigures = 4,  // heap figures of the kGcFinish with the same number, learned later
  kMonWait = 5,
  kMonWaited = 6,
  kMonContendedEnter = 7,
  kMonContendedEntered = 8,
  kObjAlloc = 9,
  kObjFree = 10,
  kClassUnload = 11,
  kRuntimeInitDone = 12,
  kRuntimeShutdown = 13,
  // Written by probes into chunks of their producer's own (layout.h, kDirect): the thread is the one that the
  // producer's last kThreadSwitch named.
  kThreadSwitch = 14,
  // `number` events of a producer found no room. With kGapBegins: none is lost yet, and unless another record of the
  // producer comes, all are from here on. It may be written by another producer (GapRecord::thread).
  kGap = 15,
  kMethodEntry = 16,   // `number`: methodId
  kMethodExit = 17,    // by return
  kMethodUnwind = 18,  // by an exception
  kLine = 19,          // `flags`: the line
  kThrow = 20,         // in the frame of `number`
  kCatch = 21,
  kMethodCount = 22,  // `number`: methodId
  kLateEntry = 23,    // a methodEntry of before, written when the call was found slow
  kValue = 24,        // of the methodEntry or methodExit of `number` that comes next; `flags`: position
  kEntryOf = 25,      // a methodEntry with its receiver
  kReceiver = 26,     // the receiver of the innermost open call of `number`, a constructor: known from here on
  kLateEntryOf = 27,  // kLateEntry with its receiver
  kCall = 28,         // `number`: the callee as its caller names it (definition.h, kStandsFor)
  kReturn = 29,       // of the innermost kCall of `number`
  // With calls, where no kMethodEntry, kMethodExit, kMethodUnwind or kCatch says it: a frame of `number` begins, ends,
  // is in a handler. What its calls left by an exception are known by.
  kFrameBegin = 30,
  kFrameEnd = 31,
  kHandler = 32,
  // Of the constructors that the thread is really in, `number` is the innermost one that has probes, 0: it is in none.
  // The entry that comes next is not among them. Others that are open above it were left by exceptions.
  kConstructor = 33,
};

struct RecordHeader {
  RecordKind kind;
  std::uint8_t slots;  // of the whole record, from 1
  std::uint16_t flags;
  std::uint32_t
      number;  // kGcStart, kGcFinish, kGcFigures: number of the collection, from 1; of a probe: methodId; else 0
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
  std::uint64_t site;      // where there is no stack: methodId << 16 | line (0: not known); 0 for none
};

struct ObjectRecord {  // kObjFree, kClassUnload
  RecordHeader header;
  std::uint64_t id;
  std::uint64_t thread;  // threadId of the thread that learned it, 0 unknown
};

// kMethodEntry, kMethodExit, kMethodUnwind, kLine, kCall to kConstructor: the header alone.
struct ProbeRecord {
  RecordHeader header;
};

// The same with --cpu-time. kEntryOf, kLateEntry and kLateEntryOf have the time in the same place.
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
  std::uint64_t start;  // when the call began; behind all that its thread has written
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

inline constexpr std::uint16_t kResultPosition = 255;  // behind the last of 255 arguments (JVMS 4.3.3)
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

// Whether a record tells of a frame and is no event.
constexpr bool is_of_frame(RecordKind kind) {
  return kind == RecordKind::kFrameBegin || kind == RecordKind::kFrameEnd || kind == RecordKind::kHandler ||
         kind == RecordKind::kConstructor;
}
// Whether a record is no event, or a part of one that has a record of its own: lost, it is not counted.
constexpr bool is_part(RecordKind kind) {
  return kind == RecordKind::kPadding || kind == RecordKind::kValue || kind == RecordKind::kReceiver ||
         is_of_frame(kind);
}

template <class Record>
constexpr std::uint8_t slots_of() {
  static_assert(sizeof(Record) % kSlotSize == 0);
  return sizeof(Record) / kSlotSize;
}

}  // namespace jtrace::trace::record
