// MixedWalker: the whole stack of a thread: native frames by NativeUnwinder, Java frames by the VM's rules, in
// the order in which they lie on the stack.
//
// From native to Java where unwinding arrives in generated code; from Java to native at an entry frame (a call from the
// VM). If native frames cannot be unwound, it continues at the VM's own mark of the last Java frame and counts the gap.
// For code that runs, the possible callers are tried until one leads to the thread's first frame. Borrows everything.
// Threads: one at a time.
#pragma once

#include "coreinspect/unwind/java_walker.h"
#include "coreinspect/unwind/native_names.h"
#include "coreinspect/unwind/native_unwinder.h"

namespace jtrace::coreinspect {

class MixedWalker {
 public:
  MixedWalker(const JavaWalker& java, const NativeUnwinder& native, NativeNames& names, const CodeCache& code)
      : java_(java), native_(native), names_(names), code_(code) {}

  // thread.address 0: a thread without Java frames.
  Walk walk(const JavaThread& thread, const target::Registers& registers) const;

 private:
  struct State;
  Walk attempt(const JavaThread& thread, const target::Registers& registers, std::size_t attempt,
               std::size_t& attempts) const;
  void walk_native(State& state) const;
  void walk_java(State& state) const;
  bool is_mark_of(const FrameStart& anchor, Address pc) const;
  bool is_enough(const NativeWalk& part) const;

  const JavaWalker& java_;
  const NativeUnwinder& native_;
  NativeNames& names_;
  const CodeCache& code_;
};

}  // namespace jtrace::coreinspect
