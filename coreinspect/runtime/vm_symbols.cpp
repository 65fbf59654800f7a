#include "coreinspect/runtime/vm_symbols.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/strings.h"

namespace jtrace::coreinspect {

using target::Address;
using target::ElfSymbol;

VmSymbols::VmSymbols(const target::Target& target) : bias_(target.libjvm().bias()) {
  const std::string* note = target.core() ? target.core()->own_note(kNote) : nullptr;
  images_ = target::open_symbol_files(target, target.libjvm_mapping(), note == nullptr);
  if (note)
    for (const std::string_view line : split(*note, '\n'))
      if (const std::size_t space = line.find(' '); space != line.npos)
        if (const auto value = parse_decimal<Address>(line.substr(space + 1)))
          noted_.emplace(line.substr(0, space), *value);
  any_ = !noted_.empty() ||
         std::any_of(images_.begin(), images_.end(), [](const auto& image) { return image.has_symbol_table(); });
}

std::string VmSymbols::note() const {
  const auto wanted = [](std::string_view name) {
    for (const char* start : {"_ZN20SafepointSynchronize", "_ZN16SafepointTracing", "_ZN14RuntimeService",
                              "_ZN8VMThread", "_ZN8GCLocker", "_ZN9GC_locker", "_ZL18initial_time_count"})
      if (name.starts_with(start)) return true;
    return name.starts_with("_ZTV") && name.find("VM_") != name.npos;
  };
  std::map<std::string, Address, std::less<>> all;
  for (const target::ElfImage& image : images_)
    for (const ElfSymbol& symbol : image.symbols())
      if (wanted(symbol.name)) all.emplace(symbol.name, symbol.value + bias_);
  std::string text;
  for (const auto& [name, value] : all) {
    text.append(name).append(" ");
    append_decimal(text, value);
    text += '\n';
  }
  return text;
}

std::optional<Address> VmSymbols::address(std::string_view mangled) const {
  if (const auto noted = noted_.find(mangled); noted != noted_.end()) return noted->second;
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
  for (const auto& [name, value] : noted_)
    if (value + kHead == vtable) return class_of_vtable_symbol(name);
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
