// The control channel between the agent (client, in the JVM) and jtrace (server): frames over one Unix stream socket.
//
// A frame is u32 type | u32 size of the payload | payload; native byte order. The hang-up of the socket is how each
// side learns of the other's death. Version: the first u32 of Hello and of Start; a side that sees another version than
// its own says so (Refused / Started with an error) and ends.
//
// agent -> jtrace: Hello, what I am.
// jtrace -> agent: Start (and the descriptor of the pool by SCM_RIGHTS), or Refused (the one line for the JVM's
// stderr). agent -> jtrace: Started, tracing or why not. jtrace -> agent: Pause, Resume, Filters, Detach, Query, Count.
// agent -> jtrace: Answer (to Query, Pause, Resume, Filters; to Count, behind its Counts), Detached (to Detach; then
// both close).
#pragma once

#include <cstdint>

namespace jtrace::trace::record {

inline constexpr std::uint32_t kControlVersion = 5;
// Started's text where another jtrace traces the JVM: a refusal, no failure of the agent.
inline constexpr const char* kAlreadyTraced = "this JVM is being traced already";
inline constexpr std::uint32_t kMaxFrameSize = 1u << 20;

enum class FrameType : std::uint32_t {
  kHello = 1,     // u32 control version | u32 inner pid | u32 JVMTI version | u8 started by -agentpath | text agent
                  // version | text options as the JVM gave them (-agentpath only; UTF-8)
  kStart = 2,     // u32 control version | Config (below)
  kRefused = 3,   // text
  kStarted = 4,   // u32 status (0 ok) | u64 events that are really on (EventBit) | text: why not; where it is ok what
                  // was left out and why, or ""
  kPause = 5,     // no payload
  kResume = 6,    // no payload
  kFilters = 7,   // filter rules as in Config: replaces the active block
  kDetach = 8,    // no payload
  kDetached = 9,  // no payload: callbacks are off, nothing will be written, the pool is unmapped
  kQuery = 10,    // no payload
  kAnswer = 11,   // text: key=value lines
  kCount = 12,    // no payload: send the counts, then Answer
  kCounts = 13,   // n x (u64 methodId | u64 calls since the probes were put in)
};
struct FrameHeader {
  FrameType type;
  std::uint32_t size;
};

// Config, as it lies in Start:
//   u64 events wanted (EventBit) | u32 flags (ConfigFlag) | u32 block limit in ms | u64 sampling interval of objAlloc
//   in bytes (0: every object) | u32 stack depth for objAlloc (0: none) | u64 least time of a traced call in ns (0:
//   every call) | u32 n | n x u64 address of a perf counter of bytes used | u32 m | m x u64 address of one of bytes
//   committed (addresses in the JVM of 8-byte words of hsperfdata, to be summed at gcFinish; none: the figures come
//   from Runtime) | filter rules: u32 count | for each u8 include (1) or exclude (0) | text class pattern | text method
//   pattern ("*": all) Patterns are in internal form with '/' and one
//   '*' at the start or the end at most. Text: u32 length + bytes.
enum EventBit : std::uint64_t {
  kThreadStartEvent = 1u << 0,
  kThreadEndEvent = 1u << 1,
  kClassDefEvent = 1u << 2,  // classes prepared from now on; without it classDef comes on first reference only
  kClassUnloadEvent = 1u << 3,
  kGcEvent = 1u << 4,  // gcStart and gcFinish
  kMonWaitEvent = 1u << 5,
  kMonWaitedEvent = 1u << 6,
  kMonContendedEnterEvent = 1u << 7,
  kMonContendedEnteredEvent = 1u << 8,
  kObjAllocEvent = 1u << 9,
  kObjFreeEvent = 1u << 10,
  kRuntimeInitDoneEvent = 1u << 11,
  kRuntimeShutdownEvent = 1u << 12,
  kVirtualThreadEvent = 1u << 13,  // threadStart and threadEnd of virtual threads too
  kMethodEvent = 1u << 14,         // methodEntry and methodExit
  kMethodCountEvent = 1u << 15,
  kLineEvent = 1u << 16,
  kThrowEvent = 1u << 17,
  kCatchEvent = 1u << 18,
  kAllocationEvent = 1u << 19,  // objAlloc of what the traced methods make, each
  kSleepEvent = 1u << 20,       // monWait and monWaited of Thread.sleep
  kParkEvent = 1u << 21,        // monWait and monWaited of LockSupport.park
  kStandstillEvent = 1u << 22,  // processSuspend and processResume: jtrace's own
  kCallEvent = 1u << 23,        // methodCall and methodReturn
};
// What probes in the bytecode make: events with a time, and counts.
inline constexpr std::uint64_t kTimedProbeEvents =
    kMethodEvent | kLineEvent | kThrowEvent | kCatchEvent | kAllocationEvent | kCallEvent;
inline constexpr std::uint64_t kProbeEvents = kTimedProbeEvents | kMethodCountEvent;
enum ConfigFlag : std::uint32_t {
  kBlockWhenFull = 1,     // wait for room, at most the block limit, instead of dropping at once
  kAllLoadedClasses = 2,  // classDef for every class that is loaded already
  kMonitorOwner = 4,      // threadOwner of monContendedEnter
  kArguments = 16,        // a value for each argument of a methodEntry
  kReturnValues = 32,     // a value for what a methodExit returns
  kReceivers = 64,        // the receiver of each call
  kPreciseTime = 8,       // probes take CLOCK_MONOTONIC itself instead of the coarse clock
  kCpuTime = 128,         // threadCpuTime of methodEntry, methodExit, methodCall, methodReturn and line
};

}  // namespace jtrace::trace::record
