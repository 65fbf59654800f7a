// All threads of a JVM at one moment, with their frames.
//
// A live target is stopped while registers, stacks and JavaThread structures are copied (thread_capture.h). Everything
// else is read after it runs again, so names, lines and code are from a later moment. Threads: one at a time.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coreinspect/tools/at_stop.h"
#include "coreinspect/tools/views.h"
#include "coreinspect/unwind/java_walker.h"
#include "coreinspect/unwind/virtual_threads.h"
#include "target/held_thread.h"

namespace jtrace::coreinspect {

struct ThreadReport {
  JavaThread java;                      // java.address 0: a thread of the VM or of native code
  std::string name;                     // of such a thread, if known (comm)
  pid_t native_id = 0;                  // in its innermost pid namespace, if known
  pid_t tid = 0;                        // of a live target: as this process sees it, if known
  std::optional<std::uint64_t> cpu_ns;  // nothing if it was not measured
  // Ready to run, without a processor (proc_pid_schedstat); nothing of a core, or if the kernel does not report it.
  std::optional<std::uint64_t> queued_ns;
  std::uint64_t measured_ns = 0;  // when the two were read (CLOCK_MONOTONIC)
  // How often it has waited for something, each stop of a tracer included (count_of_waits).
  std::optional<std::uint64_t> waits;
  bool slept = false;  // when they were read; a thread that was stopped a moment ago may have a wait to come
  std::optional<target::Registers> registers;
  // Another tracer holds it: only sp and pc of its registers are known, or none.
  std::optional<target::HeldThread> held;
  Walk walk;

  const std::string& shown_name() const { return java.address != 0 ? java.name : name; }
};

struct ThreadSnapshot {
  std::vector<ThreadReport> threads;           // Java threads in the VM's order, then the others
  std::vector<VirtualThread> virtual_threads;  // those that the JDK tracks
  std::chrono::nanoseconds pause{};            // 0 for a core
  std::size_t batches = 1;                     // more than one: not all from one instant
  // The classes of the objects that frames have locked or threads wait for, as far as they are known.
  std::map<Address, std::string> lock_classes;
  // Of a live target, if its locks were asked for; empty otherwise.
  std::shared_ptr<const HeadersAtStop> headers;
  ParkedAtStop parked;
  std::optional<std::uint64_t> collections;  // of a live target: begun before the stop; nothing if one was running
  std::size_t moved = 0;            // those that are not, because a collection has moved objects since the stop
  bool read_in_collection = false;  // names and ids may be wrong
  std::vector<std::string> missing;
};

// What the kernel knows of a thread of a live process: times, waits, its name; `tid` as this process sees it. What
// cannot be read, because it has ended, is left out.
void add_kernel_facts(const target::Process& process, pid_t tid, ThreadReport& report);

// Whether addresses of objects in the frames may lead elsewhere by now. A core stays as it is.
bool objects_may_have_moved(const Inspection& inspection, const ThreadSnapshot& snapshot);
// The threads that another tracer holds, by name; a line for each tracer.
std::vector<std::string> describe_held(const std::vector<ThreadReport>& threads);

struct SnapshotOptions {
  std::chrono::milliseconds max_stop{200};
  bool native = false;  // include native frames
  bool virtual_threads = true;
  bool details = true;  // what the kernel knows of each thread: cpu time, name
  bool locks = true;    // the classes of what frames have locked
  // Of a live target whose threads the caller has stopped: nothing is stopped, and its memory is read as it is.
  const std::vector<target::ThreadRegisters>* stopped = nullptr;
};
// Once more, up to three times in all, if a collection has moved what frames have locked.
Result<ThreadSnapshot> take_thread_snapshot(Inspection& inspection, const SnapshotOptions& options);

// For repeated snapshots: keeps what is known of images and methods.
class ThreadSampler {
 public:
  ThreadSampler(Inspection& inspection, const SnapshotOptions& options);
  ~ThreadSampler();
  // `tids`: only these threads of a live target (as this process sees them); empty: all.
  Result<ThreadSnapshot> take(std::span<const pid_t> tids = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jtrace::coreinspect
