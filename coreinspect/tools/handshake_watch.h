// HandshakeWatch: looks for handshakes that are not run (runtime/handshake.h), until each has been there for 0.4 s, so
// that a thread that only waits for a processor gets one.
//
// Those of threads that sleep in nanosleep(2) while they wait, and that of the VM operation. The target is not stopped.
// Nothing of a core. Borrows its arguments. Threads: one at a time.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "coreinspect/runtime/handshake.h"
#include "coreinspect/runtime/vm_operation.h"
#include "coreinspect/tools/kernel_threads.h"
#include "coreinspect/tools/late_threads.h"

namespace jtrace::coreinspect {

struct WatchedHandshake {
  Handshake handshake;
  std::uint64_t first_ns = 0, ns = 0;     // of the first look at it, and of the last
  std::map<Address, int> late;            // threads that did not run it at any look -> JavaThreadState
  std::map<Address, KernelFacts> before;  // what the kernel said about these at the first look
};

class HandshakeWatch {
 public:
  HandshakeWatch(const Inspection& inspection, const VmSymbols& symbols, const KernelThreads& kernel,
                 const Result<VmOperations>& operations);

  // An error if this JVM does not record them.
  const Result<Handshakes>& handshakes() const { return handshakes_; }
  // Those that were there at every look.
  std::vector<WatchedHandshake> run() const;

 private:
  std::vector<WatchedHandshake> first_look() const;
  bool add_of_sleepers(std::vector<WatchedHandshake>& found) const;
  void add_of_operation(std::vector<WatchedHandshake>& found) const;
  std::map<Address, int> late_threads(const Handshake& handshake) const;
  bool is_still_there(WatchedHandshake& watched) const;

  const Inspection& inspection_;
  const KernelThreads& kernel_;
  const Result<VmOperations>& operations_;
  const target::Process* process_;
  const Result<Handshakes> handshakes_;
};

}  // namespace jtrace::coreinspect
