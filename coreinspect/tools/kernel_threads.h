// The kernel's threads of a live process, by the ids of both sides: this process's, and those of the innermost pid
// namespace, which the VM's own structures have.
//
// As of the moment of reading. Empty for a core. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct KernelThread {
  pid_t tid = 0;    // as this process sees it
  pid_t nstid = 0;  // as the process itself does
  std::string name;
};

// The kernel's id of a Thread of the VM, as the VM has it (OSThread); 0 if it is not known.
pid_t native_id_of(const Vm& vm, target::Address thread);

class KernelThreads {
 public:
  explicit KernelThreads(const Vm& vm);
  const std::vector<KernelThread>& all() const { return threads_; }
  // The first of that name (comm); null if there is none.
  const KernelThread* named(std::string_view name) const;
  // That of a Thread of the VM; null if it is not known.
  const KernelThread* of(target::Address thread) const;
  pid_t tid_of(target::Address thread) const;  // 0 if it is not known

 private:
  const Vm& vm_;
  std::vector<KernelThread> threads_;
};

}  // namespace jtrace::coreinspect
