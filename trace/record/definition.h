// Definition records: what events refer to by id. They go a way of their own (producer 0, layout.h): one byte stream
// over chunks, so a definition may be longer than a chunk. A definition is committed before the first event that refers
// to it.
//
// A record is u32 size of what follows | u8 kind | u64 time (CLOCK_MONOTONIC, ns) | u64 id | the fields of its kind
// (definitions.def), native byte order, unaligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jtrace::trace::record {

enum class DefinitionKind : std::uint8_t {
#define DEFINITION(number, Name, id, text) k##Name = number,
#include "trace/record/definitions.def"
};
// Where in a record, its size included, the time and the first field are.
inline constexpr std::size_t kDefinitionTimeOffset = sizeof(std::uint32_t) + sizeof(DefinitionKind);
inline constexpr std::size_t kDefinitionFieldsOffset = kDefinitionTimeOffset + 2 * sizeof(std::uint64_t);

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

}  // namespace jtrace::trace::record
