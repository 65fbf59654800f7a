// SafepointWatch: looks at the safepoints of a JVM until nothing is under way, or until the same safepoint (or the same
// VM operation) has been there for 0.4 s, so that a thread that only waits for a processor gets one. After 2 s in which
// each look found another one it gives up. A core is looked at once.
//
// Borrows the inspection. Threads: one at a time. Errors: those of the last look.
#pragma once

#include <map>
#include <optional>

#include "coreinspect/model/inspection.h"
#include "coreinspect/runtime/safepoint.h"
#include "coreinspect/tools/kernel_threads.h"
#include "coreinspect/tools/late_threads.h"

namespace jtrace::coreinspect {

struct SafepointMoment {
  SafepointLook look;
  std::optional<VmOperation> operation;
  std::uint64_t ns = 0;  // CLOCK_MONOTONIC
  bool is_quiet() const { return look.state == SafepointState::kNone && !operation; }
  bool same(const SafepointMoment& other) const;  // the same safepoint, or the same operation without one
};

class SafepointWatch {
 public:
  explicit SafepointWatch(const Inspection& inspection);

  // Each an error where this JVM does not record it: the other one is watched all the same.
  const Result<SafepointReader>& safepoints() const { return safepoints_; }
  const Result<VmOperations>& operations() const { return operations_; }
  const KernelThreads& kernel_threads() const { return kernel_; }
  const VmSymbols& symbols() const { return symbols_; }

  // The last look.
  Result<SafepointMoment> run();
  std::optional<bool> is_quiet() const;                 // now; nothing if it cannot be told
  bool lasting() const { return lasting_; }             // false: it gave up
  std::uint64_t first_ns() const { return first_.ns; }  // of the first look at what the last one saw
  // The threads that held up a safepoint at each look since the first one.
  const std::map<target::Address, int>& late() const { return late_; }
  // What the kernel said about one at the first look.
  KernelFacts facts_before(target::Address thread) const;

 private:
  Result<SafepointMoment> look() const;
  Result<SafepointMoment> look_with_retries() const;
  void restart(const SafepointMoment& now);
  void keep_late(const SafepointLook& look);

  const Inspection& inspection_;
  const VmSymbols symbols_;
  const KernelThreads kernel_;
  const Result<SafepointReader> safepoints_;
  const Result<VmOperations> operations_;
  SafepointMoment first_;
  std::map<target::Address, int> late_;
  std::map<target::Address, KernelFacts> before_;
  bool lasting_ = true;
};

}  // namespace jtrace::coreinspect
