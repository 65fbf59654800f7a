#include "sampling/kernel_names.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace jtrace::sampling {

KernelNames::KernelNames(std::string_view kallsyms) {
  while (!kallsyms.empty()) {
    const std::size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
    const std::string_view line = kallsyms.substr(0, end);
    kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
    Symbol symbol;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), symbol.address, 16);
    const auto at = static_cast<std::size_t>(parsed.ptr - line.data());
    if (parsed.ec != std::errc() || symbol.address == 0 || line.size() < at + 4) continue;
    if (const char type = line[at + 1]; type != 't' && type != 'T' && type != 'W' && type != 'w') continue;
    const std::string_view name = line.substr(at + 3);
    symbol.name = name.substr(0, name.find('\t'));  // "name\t[module]"
    symbols_.push_back(std::move(symbol));
  }
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
}

KernelNames KernelNames::of_this_machine() { return KernelNames(read_file("/proc/kallsyms").value_or("")); }

const std::string& KernelNames::name_at(std::uint64_t address) const {
  static const std::string kUnknown = "[kernel]";
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  return after == symbols_.begin() ? kUnknown : std::prev(after)->name;
}

}  // namespace jtrace::sampling
