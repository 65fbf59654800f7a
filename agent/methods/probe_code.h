// The code of the probes: the bytes of the class that they call. Its methods write records into the calling thread's
// chunk with plain stores (trace/record/layout.h, kDirect), count (call_counts.h), or keep the open calls
// (open_calls.h). If the thread has no chunk, or no room in it, they call native methods (probes.h). They call nothing
// else but intrinsics of Unsafe and Thread, which are never rewritten. Pure functions; no JVM.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/classfile/bytes.h"
#include "agent/classfile/probe_methods.h"
#include "agent/methods/probe_area.h"

namespace jtrace::agent {

enum class ProbeTime { kCoarse, kPrecise };
enum class ProbeCalls {
  kEach,  // every call
  kSlow,  // calls that took long (open_calls.h)
};
struct ProbeStyle {
  ProbeTime time;
  ProbeCalls calls;
  bool cpu_time;  // each event has the processor time (CpuTimeRecord)
};

// The static field that holds the address of the ProbeArea.
inline constexpr char kAreaField[] = "AREA";

// What the class must know of this JVM.
struct ProbeClassFacts {
  bool internal_unsafe = false;        // jdk.internal.misc.Unsafe (JDK 9 and later) instead of sun.misc.Unsafe
  bool virtual_threads = false;        // Thread.currentCarrierThread() (JDK 19 and later)
  std::uint64_t thread_id_offset = 0;  // of Thread.tid, as Unsafe has it
  std::uint32_t chunk_size = 0;
};

// The options of rewrite_class() whose calls the class can take. (Arrays and new instances always come with their
// sites; the class has no allocated().)
constexpr std::uint32_t probe_options(ProbeCalls calls) {
  constexpr std::uint32_t kBoth = classfile::kProbeEntry | classfile::kProbeExit | classfile::kProbeThrow |
                                  classfile::kProbeCatch | classfile::kProbeLine | classfile::kProbeCount |
                                  classfile::kProbeReceiver | classfile::kProbeArguments | classfile::kProbeResult |
                                  classfile::kProbeConstructed | classfile::kProbeSites;
  return calls == ProbeCalls::kSlow ? kBoth : kBoth | classfile::kProbeCalls | classfile::kProbeFrames;
}

std::string_view probe_class_name(ProbeStyle style);
classfile::Bytes make_probe_class(ProbeStyle style, const ProbeClassFacts& facts, const ProbeArea& area);

}  // namespace jtrace::agent
