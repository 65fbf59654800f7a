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

bool is_native_in(const Frame& frame, std::string_view function) {
  return !frame.method && frame.name.find(function) != std::string::npos;
}

// In the VM: for its own operation, for the end of a safepoint, for a lock of the VM.
bool is_at_work(const Frame& frame) {
  constexpr std::string_view kWork[] = {"VMThread::execute",    "Handshake::execute", "SafepointSynchronize::block",
                                        "SafepointMechanism::", "Mutex::lock",        "Monitor::lock"};
  if (frame.method) return false;
  return frame.name.starts_with("VM_") || std::any_of(std::begin(kWork), std::end(kWork),
                                                      [&](std::string_view each) { return is_native_in(frame, each); });
}

// Those that run operations of the VM for others: the function in which each of them waits for the next one. Symbols
// of the VM may be missing, those of libc too.
struct Server {
  std::string_view name;
  bool is_often;  // without native frames it is taken for one that serves
  std::string_view waits_in[3];
};
constexpr Server kServers[] = {
    {.name = "Attach Listener", .is_often = true, .waits_in = {"AttachListener::dequeue", "accept"}},
    {.name = "Signal Dispatcher", .is_often = false, .waits_in = {"os::signal_wait", "sem_wait", "Semaphore::wait"}},
};

bool may_be_serving(const ThreadReport& report) {
  const auto server = std::find_if(std::begin(kServers), std::end(kServers),
                                   [&](const Server& each) { return each.name == report.java.name; });
  if (server == std::end(kServers)) return false;
  const auto& frames = report.walk.frames;
  if (std::none_of(frames.begin(), frames.end(), [](const Frame& each) { return each.kind == FrameKind::kNative; }))
    return server->is_often;
  return std::none_of(frames.begin(), frames.end(), [&](const Frame& frame) {
    return std::any_of(std::begin(server->waits_in), std::end(server->waits_in),
                       [&](std::string_view each) { return !each.empty() && is_native_in(frame, each); });
  });
}

// A monitor besides the one in whose Object.wait it is, which that has given back.
bool has_monitor(const Walk& walk, const Wait* wait) {
  const auto is_kept = [&](target::Address lock) { return !wait || lock != wait->object; };
  return std::any_of(walk.frames.begin(), walk.frames.end(),
                     [&](const Frame& frame) { return std::any_of(frame.locks.begin(), frame.locks.end(), is_kept); });
}

}  // namespace

bool is_idle_of_jdk(const ThreadReport& report, const Wait* wait, bool is_awaited) {
  const JavaThread& java = report.java;
  if (java.address == 0 || java.vm_state != kBlocked || report.walk.incomplete() || is_awaited) return false;
  if (wait && (wait->kind == "monitor" || !wait->owner.empty())) return false;
  const bool is_known = std::any_of(std::begin(kNames), std::end(kNames),
                                    [&](std::string_view name) { return matches_pattern(name, java.name); });
  const auto& frames = report.walk.frames;
  return is_known && std::all_of(frames.begin(), frames.end(), is_of_jdk) &&
         std::none_of(frames.begin(), frames.end(), is_at_work) && !has_monitor(report.walk, wait) &&
         !may_be_serving(report);
}

}  // namespace jtrace::coreinspect
