#include "coreinspect/tools/idle_threads.h"

#include <algorithm>
#include <string_view>

#include "base/jdk_names.h"
#include "base/name_pattern.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kBlocked = 10;  // JavaThreadState: what waits in the VM, in a park or in Object.wait has it

// Their names in JDK 8 to 27. Those of pools are the JDK's own pools.
constexpr std::string_view kNames[] = {
    "Reference Handler",
    "Finalizer",
    "Common-Cleaner",
    "Signal Dispatcher",
    "Service Thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "Sweeper thread",
    "Attach Listener",
    "C? CompilerThread*",
    "VirtualThread-unparker*",
    "VirtualThread-unblocker",
    "ForkJoinPool*-delayScheduler",
    "CompletableFutureDelayScheduler",
    "Surrogate Locker Thread (Concurrent GC)",
    "StringDedupProcessor",
};

bool is_of_jdk(const Frame& frame) {
  if (!frame.method) return true;  // of native code and the VM
  return is_of_the_jdk(frame.method->class_name);
}

}  // namespace

bool is_idle_of_jdk(const ThreadReport& report, const Wait* wait) {
  const JavaThread& java = report.java;
  if (java.address == 0 || java.vm_state != kBlocked || report.walk.incomplete()) return false;
  if (wait && (wait->kind == "monitor" || !wait->owner.empty())) return false;
  const bool is_known = std::any_of(std::begin(kNames), std::end(kNames),
                                    [&](std::string_view name) { return matches_pattern(name, java.name); });
  return is_known && std::all_of(report.walk.frames.begin(), report.walk.frames.end(), is_of_jdk);
}

}  // namespace jtrace::coreinspect
