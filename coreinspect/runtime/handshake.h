// Handshakes: the VM's requests that one thread, or each thread, runs something for a requester that waits for it
// (Handshake::execute, handshake.cpp).
//
// A HandshakeOperation lies on the stack of its requester: its vtable (by symbol), the closure, the number of threads
// that have not run it, the target, the requester; the same in JDK 16 to 27. Read without stopping the target. Threads:
// one at a time. Errors: kNotFound where this JVM has no such operations, or no symbol for them.
#pragma once

#include <optional>
#include <string>

#include "coreinspect/runtime/vm_symbols.h"
#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct Handshake {
  target::Address operation = 0;  // HandshakeOperation
  target::Address requester = 0;  // Thread*
  target::Address target = 0;     // JavaThread*; 0: all threads
  int pending = 0;                // threads that have not run it; at least 1
  std::string name;               // of its closure: "GetStackTrace"; "" if it cannot be read
  bool same(const Handshake& other) const {
    return operation == other.operation && requester == other.requester && target == other.target;
  }
};

class Handshakes {
 public:
  static Result<Handshakes> find(const Vm& vm, const VmSymbols& symbols);

  // Nothing if there is none, or if all threads have run it.
  std::optional<Handshake> at(target::Address operation) const;
  // The one that the thread waits for whose stack pointer this is; `base`: the highest address of its stack.
  std::optional<Handshake> on_stack(target::Address thread, target::Address sp, target::Address base) const;
  // That of a VM_HandshakeAllThreads.
  std::optional<Handshake> of_operation(target::Address vm_operation) const;
  // Whether the thread has not run it yet, by the queue of its HandshakeState.
  bool is_queued(const Handshake& handshake, target::Address java_thread) const;

 private:
  Handshakes(const Vm& vm, target::Address vtable) : vm_(&vm), vtable_(vtable) {}
  std::vector<target::Address> words_above(target::Address sp, target::Address base) const;

  const Vm* vm_;
  target::Address vtable_;  // the first word of a HandshakeOperation
};

}  // namespace jtrace::coreinspect
