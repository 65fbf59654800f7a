// StackWalkers: what walks the stacks of one VM's threads, put together. Borrows the models and the code; is not moved.
// Threads: one at a time.
#pragma once

#include "coreinspect/unwind/mixed_walker.h"

namespace jtrace::coreinspect {

class StackWalkers {
 public:
  StackWalkers(const MethodModel& methods, const ObjectModel& objects, const CodeCache& code);
  StackWalkers(const StackWalkers&) = delete;
  StackWalkers& operator=(const StackWalkers&) = delete;

  const JavaWalker& java() const { return java_; }
  const MixedWalker& mixed() const { return mixed_; }
  // The Java frames of a thread, with the stubs between them. A thread in Java may be in a native function that was
  // called without a mark of the VM (System.nanoTime, a barrier of the collector, a signal handler): its frames are
  // found by unwinding. `registers`: null if they are not known.
  Walk java_frames(const JavaThread& thread, const target::Registers* registers) const;

 private:
  const CodeCache& code_;
  JavaWalker java_;
  NativeNames names_;
  NativeUnwinder native_;
  MixedWalker mixed_;
};

}  // namespace jtrace::coreinspect
