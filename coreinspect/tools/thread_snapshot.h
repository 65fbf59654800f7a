// All threads of a JVM at one moment, with their Java frames.
//
// A live target is stopped for as long as it takes to copy registers, stacks and JavaThread structures; everything else
// is read when it runs again, so that names, lines and code are those of a moment later. Threads: one at a time.
#pragma once

#include <chrono>
#include <vector>

#include "coreinspect/tools/inspection.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

struct ThreadReport {
  JavaThread java;      // java.address 0: a thread of the VM or of native code
  std::string name;     // of such a thread, where known (comm)
  pid_t native_id = 0;  // in its innermost pid namespace where known
  std::uint64_t cpu_ns = 0;
  std::optional<target::Registers> registers;
  Walk walk;
  Frame top;  // where its pc is, of a thread whose frames are native; kind kNative with module, or none (pc 0)
};

struct ThreadSnapshot {
  std::vector<ThreadReport> threads;  // Java threads in the VM's order, then the others
  std::chrono::nanoseconds pause{};   // 0 for a core
  std::vector<std::string> missing;
};

Result<ThreadSnapshot> take_thread_snapshot(Inspection& inspection, std::chrono::milliseconds max_stop);

}  // namespace jtrace::coreinspect
