// All threads of a JVM at one moment, with their frames.
//
// A live target is stopped for as long as it takes to copy registers, stacks and JavaThread structures
// (thread_capture.h); everything else is read when it runs again, so that names, lines and code are those of a moment
// later. Threads: one at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coreinspect/tools/views.h"
#include "coreinspect/unwind/java_walker.h"
#include "coreinspect/unwind/virtual_threads.h"
#include "target/held_thread.h"

namespace jtrace::coreinspect {

struct ThreadReport {
  JavaThread java;                      // java.address 0: a thread of the VM or of native code
  std::string name;                     // of such a thread, where known (comm)
  pid_t native_id = 0;                  // in its innermost pid namespace where known
  std::optional<std::uint64_t> cpu_ns;  // nothing where nobody has measured it
  std::optional<target::Registers> registers;
  // Another tracer has it: of its registers sp and pc alone are known, or none.
  std::optional<target::HeldThread> held;
  Walk walk;

  const std::string& shown_name() const { return java.address != 0 ? java.name : name; }
};

struct ThreadSnapshot {
  std::vector<ThreadReport> threads;           // Java threads in the VM's order, then the others
  std::vector<VirtualThread> virtual_threads;  // those the JDK keeps track of
  std::chrono::nanoseconds pause{};            // 0 for a core
  std::size_t batches = 1;                     // more than one: not all of one instant
  std::vector<std::string> missing;
};

// Those that another tracer has, by name; a line for each tracer.
std::vector<std::string> describe_held(const std::vector<ThreadReport>& threads);

struct SnapshotOptions {
  std::chrono::milliseconds max_stop{200};
  bool native = false;  // native frames as well
  bool virtual_threads = true;
  bool details = true;  // what the kernel knows of each thread: cpu time, name
};
Result<ThreadSnapshot> take_thread_snapshot(Inspection& inspection, const SnapshotOptions& options);

// The same again and again: what is known of images and methods is kept.
class ThreadSampler {
 public:
  ThreadSampler(Inspection& inspection, const SnapshotOptions& options);
  ~ThreadSampler();
  // `tids`: these threads of a live target alone (as this process sees them); empty: all.
  Result<ThreadSnapshot> take(std::span<const pid_t> tids = {});

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jtrace::coreinspect
