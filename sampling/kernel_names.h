// KernelNames: functions of the running kernel by address, from /proc/kallsyms. If the kernel hides its addresses there
// (kptr_restrict, no CAP_SYSLOG), every address is "[kernel]". One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace::sampling {

inline constexpr const char* kKernelModule = "[kernel]";  // of frames in the kernel, which are native ones

class KernelNames {
 public:
  // `kallsyms`: lines as of /proc/kallsyms: "ffffffff81000000 T _stext".
  explicit KernelNames(std::string_view kallsyms);
  static KernelNames of_this_machine();

  bool known() const { return !symbols_.empty(); }
  const std::string& name_at(std::uint64_t address) const;

 private:
  struct Symbol {
    std::uint64_t address = 0;
    std::string name;
  };
  std::vector<Symbol> symbols_;  // by address
};

}  // namespace jtrace::sampling
