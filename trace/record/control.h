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

inline constexpr std::uint32_t kControlVersion = 13;
inline constexpr std::uint32_t kMaxFrameSize = 1u << 20;

// frames.def has the fields of those that have any.
enum class FrameType : std::uint32_t {
  kHello = 1,
  kStart = 2,
  kRefused = 3,
  kStarted = 4,  // the events that are really on and what was left out and why; or why not at all
  kPause = 5,
  kResume = 6,
  kFilters = 7,
  kDetach = 8,
  kDetached = 9,  // callbacks are off, nothing will be written, the pool is unmapped
  kQuery = 10,
  kAnswer = 11,
  kCount = 12,  // send the counts, then Answer
  kCounts = 13,
  kCounters = 14,  // those of Start, which a JVM that starts did not have yet; no answer
};
struct FrameHeader {
  FrameType type;
  std::uint32_t size;
};

// events.def: bits of Start and Started.
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
enum class EventCallouts { kNone, kTimed, kCounts };
// All events that callouts in the bytecode make in this way.
constexpr std::uint64_t events_of(EventCallouts callouts) {
  std::uint64_t bits = 0;
#define EVENT_BIT(number, Name, when, makes, ...) \
  if (EventCallouts::k##makes == callouts) bits |= k##Name##Event;
#include "trace/record/events.def"
#undef EVENT_BIT
  return bits;
}
inline constexpr std::uint64_t kTimedCalloutEvents = events_of(EventCallouts::kTimed);
inline constexpr std::uint64_t kCalloutEvents = kTimedCalloutEvents | events_of(EventCallouts::kCounts);
// start_options.def
enum ConfigFlag : std::uint32_t {
#define START_FLAG(bit, Name, ...) k##Name = std::uint32_t{1} << bit,
#define START_CHOICE(bit, Name, ...) k##Name = std::uint32_t{1} << bit,
#include "trace/record/start_options.def"
};

}  // namespace jtrace::trace::record
