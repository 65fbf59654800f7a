// Where the heap's figures are in the JVM: the addresses of the
// hsperfdata counters whose sums are the JVM's used and committed.
#pragma once

#include <string>

#include "session/options/agent_config.h"
#include "target/process.h"

namespace jtrace::session {

struct JvmCounters {
  // Empty where the JVM has none, where we may not read them, or where its collector does not keep them up to date in
  // its pauses: then the agent asks Runtime.
  HeapCounters heap;
  std::string vm_begin_time;  // sun.rt.createVmBeginTime, ms since the epoch; "" where unknown
};
JvmCounters find_jvm_counters(const target::Process& process);

}  // namespace jtrace::session
