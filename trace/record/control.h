// The control channel between the agent (client, in the JVM) and jtrace (server): frames over one Unix stream socket.
//
// A frame is u32 type | u32 size of the payload | payload; native byte order. Each side notices the other's death by
// the hang-up of the socket. The first u32 of Hello and of Start is the version; a side that finds another version than
// its own reports it (Refused, or Started with an error) and ends.
//
// clang-format off
//   agent -> jtrace   Hello, what I am
//   jtrace -> agent   Start, with the descriptor of the pool (SCM_RIGHTS); or Refused, the one line for the JVM's stderr
//   agent -> jtrace   Started: tracing, or why not
//   jtrace -> agent   Pause, Resume, Filters, Query: each is answered by Answer
//                     Count: Counts, any number of them, then Answer
//                     Detach: Detached; then both close
// clang-format on
#pragma once

#include <bit>
#include <cstdint>

namespace jtrace::trace::record {

inline constexpr std::uint32_t kControlVersion = 10;
inline constexpr std::uint32_t kMaxFrameSize = 1u << 20;

enum class FrameType : std::uint32_t {
  kHello = 1,  // frames.def has the fields of Hello, Started, Refused and Answer
  // Texts are UTF-8.
  kStart = 2,      // u32 control version | Config (below)
  kRefused = 3,    // frames.def
  kStarted = 4,    // frames.def: the events that are really on and what was left out and why; or why not at all
  kPause = 5,      // no payload
  kResume = 6,     // no payload
  kFilters = 7,    // filter rules as in Config: replaces the active block
  kDetach = 8,     // no payload
  kDetached = 9,   // no payload: callbacks are off, nothing will be written, the pool is unmapped
  kQuery = 10,     // no payload
  kAnswer = 11,    // frames.def
  kCount = 12,     // no payload: send the counts, then Answer
  kCounts = 13,    // n x (u64 methodId | u64 calls since the probes were put in)
  kCounters = 14,  // the counters of Config, which a JVM that starts did not have yet; no answer
};
struct FrameHeader {
  FrameType type;
  std::uint32_t size;
};

// Config, the contents of Start. Text: u32 length + bytes.
//
// clang-format off
//   u64 events wanted (EventBit) | u32 flags (ConfigFlag) | the values of start_options.def, in its order
//   | u32 n | n x u64 address of a perf counter of bytes used | u32 m | m x u64 address of one of bytes committed
//   | u64 address of the text of sun.gc.cause | u64 of sun.gc.lastCause | u32 kinds of a collection that none counts
//   | u8 the used counters are right when a pause begins | u32 s | s x space | u32 k | k x collector
//   space: u64 address of the word with its bottom (0: none, the other is a number of bytes) | u64 of that with its top
//   collector: u32 CollectionKind | u64 address of invocations | u64 of lastEntryTime | u64 of lastExitTime
//   | filter rules: u32 count | for each u8 include (1) or exclude (0) | text class pattern | text method pattern
// clang-format on
//
// Addresses are those, in the JVM, of 8-byte words of hsperfdata that are summed up at gcFinish; without any, the
// figures come from Runtime. Those of a space are the JVM's own variables. An address of 0: there is no such counter,
// and causes or kinds are not known. Patterns are in internal form with '/' and with at most one '*', at the start or
// the end; method "*": all.
enum EventBit : std::uint64_t {
#define EVENT_BIT(number, Name, ...) k##Name##Event = std::uint64_t{1} << number,
#include "trace/record/events.def"
#undef EVENT_BIT
};
// The set of all events.
inline constexpr std::uint64_t kAllEvents = 0
#define EVENT_BIT(number, Name, ...) | k##Name##Event
#include "trace/record/events.def"
#undef EVENT_BIT
    ;
static_assert(std::popcount(kAllEvents) == 0
#define EVENT_BIT(...) +1
#include "trace/record/events.def"
#undef EVENT_BIT
              ,
              "two rows of events.def have the same bit");
enum class EventProbes { kNone, kTimed, kCounts };
// All events that probes in the bytecode make in this way.
constexpr std::uint64_t events_of(EventProbes probes) {
  std::uint64_t bits = 0;
#define EVENT_BIT(number, Name, when, makes, ...) \
  if (EventProbes::k##makes == probes) bits |= k##Name##Event;
#include "trace/record/events.def"
#undef EVENT_BIT
  return bits;
}
inline constexpr std::uint64_t kTimedProbeEvents = events_of(EventProbes::kTimed);
inline constexpr std::uint64_t kProbeEvents = kTimedProbeEvents | events_of(EventProbes::kCounts);
// start_options.def
enum ConfigFlag : std::uint32_t {
#define START_FLAG(bit, Name, ...) k##Name = std::uint32_t{1} << bit,
#define START_CHOICE(bit, Name, ...) k##Name = std::uint32_t{1} << bit,
#include "trace/record/start_options.def"
};

}  // namespace jtrace::trace::record
