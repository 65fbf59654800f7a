#include "coreinspect/runtime/vm_symbols.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace jtrace::coreinspect {

using target::Address;
using target::ElfSymbol;

VmSymbols::VmSymbols(const target::Target& target)
    : images_(target::open_symbol_files(target, target.libjvm_mapping())), bias_(target.libjvm().bias()) {
  any_ = std::any_of(images_.begin(), images_.end(), [](const auto& image) { return image.has_symbol_table(); });
}

std::optional<Address> VmSymbols::address(std::string_view mangled) const {
  for (const target::ElfImage& image : images_) {
    const auto& all = image.symbols();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ElfSymbol& each) { return each.name == mangled; });
    if (found != all.end()) return found->value + bias_;
  }
  return std::nullopt;
}

std::string VmSymbols::class_of_vtable(Address vtable) const {
  constexpr Address kHead = 16;  // offset to top, type information (Itanium C++ ABI, 2.5.2)
  for (const target::ElfImage& image : images_)
    if (const ElfSymbol* symbol = image.symbol_at(vtable - kHead - bias_);
        symbol && symbol->value + bias_ + kHead == vtable)
      return class_of_vtable_symbol(symbol->name);
  return "";
}

std::string class_of_vtable_symbol(std::string_view symbol) {
  constexpr std::string_view kWords = "vtable for ";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), std::free);
  const std::string_view plain = status == 0 && text ? std::string_view(text.get()) : std::string_view();
  return plain.starts_with(kWords) ? std::string(plain.substr(kWords.size())) : "";
}

}  // namespace jtrace::coreinspect
