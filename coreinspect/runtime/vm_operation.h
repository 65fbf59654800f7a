// VmOperations: the VM operation that runs, or that waits for the VM Thread (vmThread.hpp, vmOperations.hpp).
//
// The VM Thread's variables are found by symbol, otherwise by structure: a word in libjvm's data that points to the
// Thread whose kernel id is that of the "VM Thread"; the word before it is the current operation (JDK 8 to 27). An
// operation is named by the symbol of its vtable, otherwise (JDK 8) by the number that its type() returns and the VM's
// own table of names. Reads the target's memory without a cache. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/runtime/vm_symbols.h"
#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct VmOperation {
  target::Address address = 0, vtable = 0;
  target::Address requester = 0;  // Thread*; 0: the VM itself
  bool waits = false;             // the VM Thread has not taken it yet
  bool same(const VmOperation& other) const { return address == other.address && vtable == other.vtable; }
};

class VmOperations {
 public:
  // kNotFound: the variables cannot be found in this JVM. `vm_thread`: the id of the "VM Thread", in the innermost pid
  // namespace of the process; 0 if it is not known.
  static Result<VmOperations> find(const Vm& vm, const VmSymbols& symbols, pid_t vm_thread);

  // "symbol" or "structure".
  std::string_view found_by() const { return next_ || by_symbol_ ? "symbol" : "structure"; }
  target::Address vm_thread() const { return vm_thread_; }  // Thread*
  Result<std::optional<VmOperation>> now() const;
  // "VM_GenCollectFull"; "" if it is not known.
  std::string name(const VmOperation& operation) const;

 private:
  VmOperations(const Vm& vm, const VmSymbols& symbols) : vm_(&vm), symbols_(&symbols) {}
  bool find_by_symbol();
  bool find_by_structure(pid_t vm_thread);
  bool is_vm_thread(target::Address thread, pid_t id) const;
  std::string name_by_type(target::Address vtable) const;
  std::optional<VmOperation> read(target::Address slot) const;

  const Vm* vm_;
  const VmSymbols* symbols_;
  bool by_symbol_ = false;
  target::Address vm_thread_ = 0, current_ = 0;
  std::optional<target::Address> next_;  // JDK 17 and later
};

// What a function returns that does nothing but return a constant: `code` are its first bytes. Nothing of others.
std::optional<std::uint32_t> constant_returned_by(std::span<const std::byte> code);

}  // namespace jtrace::coreinspect
