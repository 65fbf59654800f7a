// The code of the callouts: the bytes of the class that they call. Its methods write records into the calling thread's
// chunk with plain stores (trace/record/layout.h, kDirect), count (call_counts.h), or keep the open calls
// (open_calls.h). If the thread has no chunk, or no room in it, they call native methods (callouts.h). They call
// nothing else but intrinsics of Unsafe and Thread, which are never rewritten. Pure functions; no JVM.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/classfile/bytes.h"
#include "agent/classfile/callout_methods.h"
#include "agent/methods/callout_area.h"

namespace jtrace::agent {

enum class CalloutTime { kCoarse, kPrecise };
enum class CalloutCalls {
  kEach,  // every call
  kSlow,  // calls that took long (open_calls.h)
};
struct CalloutStyle {
  CalloutTime time;
  CalloutCalls calls;
  bool cpu_time;  // each event has the processor time (CpuTimeRecord)
};

// The static field that holds the address of the CalloutArea.
inline constexpr char kAreaField[] = "AREA";

// What the class must know of this JVM.
struct CalloutClassFacts {
  bool internal_unsafe = false;        // jdk.internal.misc.Unsafe (JDK 9 and later) instead of sun.misc.Unsafe
  bool virtual_threads = false;        // Thread.currentCarrierThread() (JDK 19 and later)
  std::uint64_t thread_id_offset = 0;  // of Thread.tid, as Unsafe has it
  std::uint32_t chunk_size = 0;
};

// The options of rewrite_class() whose calls the class can take. (Arrays and new instances always come with their
// sites; the class has no allocated().)
constexpr std::uint32_t callout_options(CalloutCalls calls) {
  constexpr std::uint32_t kBoth = classfile::kCalloutEntry | classfile::kCalloutExit | classfile::kCalloutThrow |
                                  classfile::kCalloutCatch | classfile::kCalloutLine | classfile::kCalloutCount |
                                  classfile::kCalloutReceiver | classfile::kCalloutArguments |
                                  classfile::kCalloutResult | classfile::kCalloutConstructed | classfile::kCalloutSites;
  return calls == CalloutCalls::kSlow ? kBoth : kBoth | classfile::kCalloutCalls | classfile::kCalloutFrames;
}

std::string_view callout_class_name(CalloutStyle style);
classfile::Bytes make_callout_class(CalloutStyle style, const CalloutClassFacts& facts, const CalloutArea& area);

}  // namespace jtrace::agent
