// VmSymbols: variables and vtables of libjvm.so by name, from its symbol table or that of its debug file.
//
// Most of them are local symbols, which a stripped library lacks: any() tells. Ownership: owns the files; borrows the
// target. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/symbol_files.h"

namespace jtrace::coreinspect {

class VmSymbols {
 public:
  explicit VmSymbols(const target::Target& target);

  // Whether there is a symbol table beside that of the exported symbols.
  bool any() const { return any_; }
  // Where the variable is in the target. `mangled`: _ZN20SafepointSynchronize6_stateE.
  std::optional<target::Address> address(std::string_view mangled) const;
  // The class whose vtable is there: the first word of an object. "" if it has no symbol.
  std::string class_of_vtable(target::Address vtable) const;

 private:
  std::vector<target::ElfImage> images_;
  target::Address bias_ = 0;
  bool any_ = false;
};

// "VM_GenCollectFull" of "_ZTV17VM_GenCollectFull"; "" if it is no vtable.
std::string class_of_vtable_symbol(std::string_view symbol);

}  // namespace jtrace::coreinspect
