// Capture of a live JVM's threads: registers, stacks and JavaThread structures of one moment, taken while the threads
// stand still, everything else later.
//
// The stop is estimated before it is made. Where all threads at once would stand longer than allowed, or do, they are
// taken in batches, each a moment of its own. What was copied is laid over the VM's memory (CachedMemory). Threads: one
// at a time. Errors: those of StoppedThreads.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "coreinspect/tools/views.h"
#include "target/held_thread.h"
#include "target/registers.h"

namespace jtrace::coreinspect {

// One that another tracer has, with what can be had without stopping it.
struct HeldCapture {
  target::HeldThread thread;
  std::optional<target::Registers> at;  // sp and pc alone; nothing of one that goes on
};

struct ThreadCapture {
  std::vector<target::ThreadRegisters> threads;  // tid as this process sees it
  std::chrono::nanoseconds pause{};              // the longest that any thread stood
  std::size_t batches = 1;                       // more than one: not one instant
  std::vector<HeldCapture> held;
  std::size_t unstoppable = 0;  // threads that did not stop in time: in the kernel, uninterruptibly
};

// `tids`: these alone; empty: all. What an earlier capture has laid over the memory is gone.
Result<ThreadCapture> capture_threads(const Inspection& inspection, std::chrono::milliseconds max_stop,
                                      std::span<const pid_t> tids = {});

}  // namespace jtrace::coreinspect
