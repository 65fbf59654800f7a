#include "diagnose/vm_threads.h"

#include <array>

namespace jtrace::diagnose {
namespace {

struct Entry {
  std::string_view prefix;
  VmThread thread;
};

// As the sources of JDK 8 to 27 name them; JDK 27 shortens a name in its middle.
constexpr std::array<Entry, 33> kThreads = {{
    {"VM Thread", {VmWork::kOperations, ""}},
    {"C1 CompilerThre", {VmWork::kCompiler, ""}},
    {"C2 CompilerThre", {VmWork::kCompiler, ""}},
    {"C1 Comp", {VmWork::kCompiler, ""}},
    {"C2 Comp", {VmWork::kCompiler, ""}},
    {"JVMCI Comp", {VmWork::kCompiler, ""}},
    {"GC Thread#", {VmWork::kCollector, ""}},
    {"GC task thread#", {VmWork::kCollector, ""}},
    {"ParGC Thread#", {VmWork::kCollector, ""}},
    {"Gang worker#", {VmWork::kCollector, ""}},
    {"Concurrent Mark", {VmWork::kCollector, ""}},
    {"CMS ", {VmWork::kCollector, ""}},
    {"G1 ", {VmWork::kCollector, ""}},
    {"ParallelGC", {VmWork::kCollector, ""}},
    {"StrDedup", {VmWork::kCollector, ""}},
    {"Shenandoah", {VmWork::kCollector, ""}},
    {"ZDriver", {VmWork::kCollector, ""}},
    {"ZDirector", {VmWork::kCollector, ""}},
    {"ZWorker", {VmWork::kCollector, ""}},
    {"ZUncommitter", {VmWork::kCollector, ""}},
    {"ZUnmapper", {VmWork::kCollector, ""}},
    {"ZStat", {VmWork::kCollector, ""}},
    {"XDriver", {VmWork::kCollector, ""}},
    {"XDirector", {VmWork::kCollector, ""}},
    {"XWorker", {VmWork::kCollector, ""}},
    {"RuntimeWorker", {VmWork::kCollector, ""}},
    {"VM Peri", {VmWork::kOther, "runs the VM's timers: counters, statistics, time-outs"}},
    {"Service Thread", {VmWork::kOther, "cleans the VM's tables and reports events of JVM TI and low memory"}},
    {"Monitor Deflat", {VmWork::kOther, "frees monitors that no thread uses any more"}},
    {"Sweeper thread", {VmWork::kOther, "removes compiled code that is not used any more"}},
    {"Signal Dispatch", {VmWork::kOther, "handles signals, such as SIGQUIT for a thread dump"}},
    {"Attach Listener", {VmWork::kOther, "answers jcmd, jstack and others that attach"}},
    {"Notification Th", {VmWork::kOther, "reports events of memory and collections to Java"}},
}};

}  // namespace

VmThread vm_thread_named(std::string_view name) {
  for (const Entry& each : kThreads)
    if (name.starts_with(each.prefix)) return each.thread;
  return {};
}

}  // namespace jtrace::diagnose
