// The places of the heap's figures in the JVM: the addresses of the hsperfdata counters whose sums are the JVM's used
// and committed bytes; those that show what its collections are for; and of the bounds of its spaces, where no counter
// has what was used when a pause began.
#pragma once

#include <string>

#include "target/process.h"
#include "trace/record/frames.h"

namespace jtrace::session {

struct FoundCounters {
  // `used` and `committed` are empty if the JVM has none, if they may not be read, or if its collector does not update
  // them in its pauses: then the agent asks Runtime.
  trace::record::CountersFields counters;
  std::string vm_begin_time;  // sun.rt.createVmBeginTime, ms since the epoch; "" if unknown
};
FoundCounters find_jvm_counters(const target::Process& process);

}  // namespace jtrace::session
