// The mappings of a process, from the text of /proc/PID/maps (proc_pid_maps(5)). Pure functions, any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "target/memory_reader.h"

namespace jtrace::target {

struct Mapping {
  Address start = 0;
  Address end = 0;  // first address after it
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  std::uint64_t offset = 0;  // in the file
  dev_t device = 0;          // 0 if there is no file
  ino_t inode = 0;
  std::string path;      // as this process's root sees it ("" or "[heap]" if there is no file), without " (deleted)"
  bool deleted = false;  // the file no longer has this name

  std::uint64_t size() const { return end - start; }
  bool contains(Address address) const { return address >= start && address < end; }
  std::string_view file_name() const;  // the last component of path
};

// The path of the vdso's mapping (vdso(7), proc_pid_maps(5)); in a core, where it has no name, found by
// AT_SYSINFO_EHDR.
inline constexpr std::string_view kVdso = "[vdso]";

// Lines that are not mappings are skipped; the order is the kernel's, by address.
std::vector<Mapping> parse_memory_map(std::string_view text);

// The mapping that contains `address`, or null. `mappings` is ordered by address.
const Mapping* find_mapping(const std::vector<Mapping>& mappings, Address address);

}  // namespace jtrace::target
