// Definition records: what events refer to by id. They go a way of their own (producer 0, layout.h): one byte stream
// over chunks, so a definition may be longer than a chunk. A definition is committed before the first event that refers
// to it.
//
// A record is   u32 size of what follows | u8 kind | u64 time (CLOCK_MONOTONIC, ns) | u64 id | fields in the order
// below. Numbers: native byte order, unaligned. Text: u32 length, then that many bytes of the JVM's modified UTF-8
// (JVMS 4.4.7) or, where it says UTF-8, of UTF-8. Read with jtrace::ByteReader.
#pragma once

#include <cstdint>

namespace jtrace::trace::record {

enum class DefinitionKind : std::uint8_t {
  // id: threadId. u64 inner kernel tid (0: unknown) | u8 flags (ThreadFlag, ThreadWas) | text threadName | text
  // groupName |
  // text parentName (the group's parent)
  kThread = 1,
  // id: classId. u64 thread that caused it (0: unknown) | u8 flags (ClassFlag) | u32 access flags (JVMS 4.1) |
  // u32 static fields | u32 instance fields | u32 methods | text signature ("Ljava/lang/String;", "[I") | text
  // sourceName |
  // u64 classId of the loader's class or 0 | text name of the loader's class ("" for the boot loader) | text superclass
  // (internal name) | u32 interfaces | that many texts (internal names)
  kClass = 2,
  // id: methodId. u64 classId | u32 access flags (JVMS 4.6) | i32 first line | i32 last line (-1: unknown) | text name
  // |
  // text signature | u32 exceptions (0xffffffff: unknown) | that many texts (internal names)
  kMethod = 3,
  // id: objId of an object that was allocated before it was seen. u64 classId (element class for isArray 2) | u64 size
  // |
  // u8 isArray code
  kObject = 4,
  // id: stack. u32 frames | for each, innermost first: u64 methodId | i32 line (-1: unknown, -2: native)
  kStack = 5,
  // id: 0. text key (UTF-8) | text value (UTF-8): an option element the agent wants said (a capability it was
  // refused...)
  kOption = 6,
  // id: 0. u64 monotonic | u64 realtime | u64 resolution in ns: clocks at one moment
  kClock = 7,
  // id: text. u32 length in chars of the string | text, its beginning
  kText = 8,
  // id: methodId, of a callee as its callers name it. u64 methodId of the method that this is. The last one of an id
  // counts; where none has come, a kMethod says what the name tells.
  kStandsFor = 9,
};

enum ThreadFlag : std::uint8_t {
  kThreadRanBefore = 1,  // it ran before the attach: `time` is the moment it was seen
  kThreadVirtual = 2,
  kThreadVmInternal = 4,
};
// Of a thread that ran before: what it did then, in the upper half of its flags, as JVM TI says (GetThreadState).
inline constexpr unsigned kThreadStateShift = 4;
enum class ThreadWas : std::uint8_t {
  kUnknown = 0,
  kRunnable = 1,  // in Java or in the JVM: it may run, or wait in the JVM's own code
  kNative = 2,    // in native code, which runs or waits for the system
  kBlocked = 3,   // enters a monitor
  kWaiting = 4,   // Object.wait
  kSleeping = 5,
  kParked = 6,
  kSuspended = 7,
};

enum ClassFlag : std::uint8_t {
  kClassLoadedBefore = 1,  // loaded before the attach: `time` is the moment it was first referred to
  kClassNamed = 2,         // known by its name alone, from a class that refers to it; so are its methods
};

inline constexpr std::uint64_t kVmInternalThreadBase =
    1'000'000'000'000;  // + inner tid: threadId of VM-internal threads

}  // namespace jtrace::trace::record
