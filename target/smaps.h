// The mappings of a process and how much of them is in memory, from the text of /proc/PID/smaps (proc_pid_smaps(5)).
//
// For that text the kernel walks the target's page tables and holds its mmap lock meanwhile: some 25 ms for each GiB of
// RSS. Pure functions, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "target/memory_map.h"

namespace jtrace::target {

struct MappedPages {
  Mapping mapping;
  std::uint64_t rss = 0;        // bytes in memory, without pages of zeros
  std::uint64_t pss = 0;        // the same, each page divided by the number of its mappings
  std::uint64_t swap = 0;       // bytes in the swap
  std::uint64_t anonymous = 0;  // bytes of rss that no file has; in a private mapping of a file: what was changed
};

// Unknown lines are skipped; a mapping without figures has zeros. The order is the kernel's, by address.
std::vector<MappedPages> parse_smaps(std::string_view text);

}  // namespace jtrace::target
