// The types of a recording of JFR as JfrWriter writes it. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "sampling/wait_kind.h"

namespace jtrace::sampling::jfr {

// Ids of types. 0 and 1 are the metadata and the checkpoint in every recording.
enum Type : std::uint32_t {
  kMetadata = 0,
  kCheckpoint = 1,
  kBoolean = 4,
  kInt = 8,
  kLong = 9,
  kString = 20,
  kThread = 21,
  kClass = 22,
  kFrameType = 23,
  kThreadState = 24,
  kStackTrace = 25,
  kStackFrame = 26,
  kMethod = 27,
  kSymbol = 28,
  kTimestamp = 40,
  kTimespan = 41,
  kLabel = 42,
  kExecutionSample = 101,
  kThreadPark = 102,
  kMonitorEnter = 103,
  kMonitorWait = 104,
  kThreadSleep = 105,
  kOffCpu = 106,
};

Type event_of(WaitKind wait);
// The metadata event.
std::string metadata(std::uint64_t time, std::uint64_t duration);

}  // namespace jtrace::sampling::jfr
