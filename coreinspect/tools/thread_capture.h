// Capture of a live JVM's threads: registers, stacks and JavaThread structures of one moment, copied while the threads
// are stopped; everything else is read later.
//
// The duration of the stop is estimated first. If stopping all threads together would take longer than allowed, or
// does, they are captured in batches, each at its own moment. The copies are laid over the VM's memory (CachedMemory).
// Threads: one at a time. Errors: those of StoppedThreads.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "coreinspect/tools/at_stop.h"
#include "coreinspect/tools/views.h"
#include "target/held_thread.h"
#include "target/registers.h"

namespace jtrace::coreinspect {

// A thread that another tracer holds, with what is known without stopping it.
struct HeldCapture {
  target::HeldThread thread;
  std::optional<target::Registers> at;  // only sp and pc; nothing if it is running
};

struct ThreadCapture {
  std::vector<target::ThreadRegisters> threads;  // tid as this process sees it
  std::chrono::nanoseconds pause{};              // the longest time that any thread was stopped
  std::size_t batches = 1;                       // more than one: not one instant
  std::vector<HeldCapture> held;
  std::optional<std::uint64_t> collections;  // begun before the first batch; nothing if one was running
  // Of what the threads wait for, and of what the copied stacks may refer to except with ZGC, whose tables show where
  // an object has gone; null if not asked for.
  std::shared_ptr<const HeadersAtStop> headers;
  std::set<Address> continuations;                  // those whose frames in the heap were copied too
  std::map<Address, std::int32_t> virtual_threads;  // those that were mounted, and their VirtualThread.state
  ParkedAtStop parked;                              // empty if not asked for
  std::size_t unstoppable = 0;                      // threads that did not stop in time: in the kernel, uninterruptible
};

// `tids`: only these; empty: all. `headers`: ThreadCapture::headers and `parked` too. Replaces what an earlier capture
// has laid over the memory.
Result<ThreadCapture> capture_threads(const Inspection& inspection, std::chrono::milliseconds max_stop,
                                      std::span<const pid_t> tids, bool headers);

}  // namespace jtrace::coreinspect
