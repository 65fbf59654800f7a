// Finds the counters of a process without trusting any path: the file is the one that the process maps (or had mapped
// when it was deleted), the memory is found in the process itself.
//
// HotSpot keeps the region in a file /tmp/hsperfdata_USER/INNER-PID (os/posix/perfMemory_posix.cpp); with
// -XX:+PerfDisableSharedMem, or if that file was not available (two pid namespaces that share /tmp, JDK-8286030), in
// private memory with the same layout. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/region_file.h"
#include "target/process.h"

namespace jtrace::perfdata {

// The mapping of the process's own hsperfdata file; null if it maps none.
const target::Mapping* find_region_mapping(const std::vector<target::Mapping>& mappings);

// The file of `mapping`, checked to be that file (device and inode), secure, and owned by the process's user. Errors:
// kPermission, kNotFound (the name now means another file, and the mapped one cannot be opened).
Result<RegionFile> open_mapped_region(const target::Process& process, const target::Mapping& mapping);

// The address of a private region in the process: a page in private anonymous memory that begins one. Reads the first
// bytes of each present page of the mappings up to 64 MiB (the region has a mapping of its own, 32 KiB by default).
// Errors: kRefused (there is none), those of reading the memory.
Result<target::Address> scan_private_region(const target::Process& process,
                                            const std::vector<target::Mapping>& mappings);

// Whether its command line says so (-XX:-UsePerfData).
bool keeps_no_counters(const target::Process& process);
// Why a JVM has no counters, as far as its command line shows, as an Error of kRefused.
Error no_counters(const target::Process& process);

// One lock of /proc/locks (proc_locks(5)); pid in this process's namespace, 0 if it has none there.
struct FileLock {
  pid_t pid = 0;
  dev_t device = 0;
  ino_t inode = 0;
};
std::vector<FileLock> parse_flocks(std::string_view text);

// The process that maps the file or holds its flock (0: one of another pid namespace). Nothing: no visible process.
std::optional<pid_t> holder_of(const FileFacts& file);
// A process other than `self` that maps the file: before JDK-8286030 two JVMs with one inner pid wrote into one file.
std::optional<pid_t> other_mapper(const FileFacts& file, pid_t self);

// A file in a hsperfdata_* directory that no process maps or locks.
struct StaleFile {
  std::string path;
  pid_t name = 0;  // the inner pid it is named after
  FileFacts facts;
};
// The stale files below the directory `tmp`, which is called `shown` in paths. `mapped`: the inodes that live JVMs map.
// Nothing is deleted or locked. A file of a JVM that may not be examined and that holds no flock (before JDK-8286030)
// counts as stale.
std::vector<StaleFile> find_stale_files(UniqueFd tmp, const std::string& shown, const std::vector<ino_t>& mapped);

}  // namespace jtrace::perfdata
