// OpenCalls: what each thread is in the middle of, for --slower-than. A probe at an entry pushes the method and the
// time, one at an exit pops (probe_code.h); only an exit that comes late, or does not fit, is looked at in native code.
// As a caller runs longer than what it calls, all callers of a slow call are slow themselves: their entries are written
// just before the callee's, so that every thread's calls nest.
//
// The stack is a thread's, virtual threads have their own. A part of ProbeArea: memory that is never unmapped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/methods/kept_values.h"

namespace jtrace::agent {

class OpenCalls {
 public:
  static constexpr std::uint64_t kEntries = 1u << 16;  // threads by threadId modulo this
  static constexpr std::uint32_t kFrames = 16383;      // deeper calls are not looked at
  static constexpr std::uint32_t kMostStacks = 4096;   // 420 KiB of addresses each, memory where it is touched

  struct Entry {
    std::atomic<std::uint64_t> owner;  // threadId, 0: nobody; a thread without a stack has none here
    std::atomic<std::uint64_t> stack;  // address
  };
  struct Frame {
    std::uint64_t method;  // number, with kWritten: its entry is in the trace
    std::uint64_t start;
  };
  static constexpr std::uint64_t kWritten = 1ull << 32;
  // Its thread's alone, but for `owner`.
  struct Stack {
    std::uint64_t depth;  // may be beyond kFrames
    std::atomic<std::uint64_t> owner;
    Frame frames[kFrames];
    std::uint64_t cpu_times[kFrames];  // of the thread when the call began, with --cpu-time; 0: not known
    KeptValues values;                 // of these calls, where they are wanted
  };

  // Nothing is open. `slower_than` in ns.
  void start(std::uint64_t slower_than);
  // No thread finds its stack any more; the calls that are open are forgotten.
  void forget();
  // An empty stack for the calling thread; nullptr where there is none.
  Stack* claim(std::uint64_t thread);
  // That of the thread; nullptr where it has none.
  Stack* find(std::uint64_t thread);
  // The thread ends, or is a virtual one that has no call open.
  void release(std::uint64_t thread);
  std::uint64_t slower_than() const { return slower_than_; }

  // For the probes.
  std::uint64_t entries_address() const { return reinterpret_cast<std::uint64_t>(entries_); }
  std::uint64_t slower_than_address() const { return reinterpret_cast<std::uint64_t>(&slower_than_); }

  // The table; at the making of the area.
  bool make();

 private:
  Entry* entries_ = nullptr;
  std::atomic<std::uint64_t>* stacks_ = nullptr;  // addresses, kMostStacks
  std::atomic<std::uint32_t> made_{0};            // so many were made
  std::uint64_t slower_than_ = 0;
};

}  // namespace jtrace::agent
