// VmSymbols: variables and vtables of libjvm.so by name, from its symbol table or that of its debug file.
//
// Most of them are local symbols, which a stripped library lacks: see any(). A core that `jtrace core` wrote has
// those that the views of this program ask for in a note, so that it needs no libjvm.so. Ownership: owns the files;
// borrows the target. Threads: one at a time.
#pragma once

#include <map>
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
  // The text of that note: a line "NAME ADDRESS", in decimal, for each variable of HotSpot's safepoints and VM
  // operations and each vtable of these. "" where there is no symbol table.
  static constexpr std::uint32_t kNote = 1;
  std::string note() const;
  // The class whose vtable is there: the first word of an object. "" if it has no symbol.
  std::string class_of_vtable(target::Address vtable) const;

 private:
  std::vector<target::ElfImage> images_;
  target::Address bias_ = 0;
  bool any_ = false;
  std::map<std::string, target::Address, std::less<>> noted_;  // of the core's note
};

// "VM_GenCollectFull" of "_ZTV17VM_GenCollectFull"; "" if it is not a vtable.
std::string class_of_vtable_symbol(std::string_view symbol);

}  // namespace jtrace::coreinspect
