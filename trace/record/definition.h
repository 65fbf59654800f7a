// Definition records: what events refer to by id. They are in a stream of their own (producer 0, layout.h): one byte
// stream over its chunks, so a definition may be longer than a chunk. A definition is committed before the first event
// that refers to it.
//
// A record is u32 size of the rest | u8 kind | u64 time (CLOCK_MONOTONIC, ns) | u64 id | the fields of its kind
// (definitions.def), native byte order, unaligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jtrace::trace::record {

enum class DefinitionKind : std::uint8_t {
#define DEFINITION(number, Name, id, text) k##Name = number,
#include "trace/record/definitions.def"
};
// The offsets in a record, counted from its size, of the time and of the first field.
inline constexpr std::size_t kDefinitionTimeOffset = sizeof(std::uint32_t) + sizeof(DefinitionKind);
inline constexpr std::size_t kDefinitionFieldsOffset = kDefinitionTimeOffset + 2 * sizeof(std::uint64_t);

enum ThreadFlag : std::uint8_t {
  kThreadRanBefore = 1,  // it ran before the attach: `time` is when it was first seen
  kThreadVirtual = 2,
  kThreadVmInternal = 4,
  kThreadBegan = 8,  // in the trace: `time` is when
};
// The state at the attach of a thread that ran before, in the upper half of its flags, as reported by JVM TI
// (GetThreadState).
inline constexpr unsigned kThreadStateShift = 4;
enum class ThreadWas : std::uint8_t {
  kUnknown = 0,
  kRunnable = 1,  // in Java or in the JVM: it may run, or wait in the JVM's own code
  kNative = 2,    // in native code, which runs or waits for the system
  kBlocked = 3,   // entering a monitor
  kWaiting = 4,   // Object.wait
  kSleeping = 5,
  kParked = 6,
  kSuspended = 7,
};
constexpr std::uint8_t thread_flags(unsigned flags, ThreadWas was) {
  return static_cast<std::uint8_t>(flags | static_cast<unsigned>(was) << kThreadStateShift);
}
// May be a number without a name, of a later agent.
constexpr unsigned thread_was(std::uint8_t flags) { return flags >> kThreadStateShift; }
constexpr std::uint8_t without_state(std::uint8_t flags) { return flags & ((1 << kThreadStateShift) - 1); }

enum ClassFlag : std::uint8_t {
  kClassLoadedBefore = 1,  // loaded before the attach: `time` is that of the first reference
  kClassNamed = 2,         // only its name is known, from a class that refers to it; the same holds for its methods
};

}  // namespace jtrace::trace::record
