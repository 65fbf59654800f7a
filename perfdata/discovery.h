// Where the counters of a process are, without believing any path: the file is the one that the process maps (or had
// mapped when it was deleted), the memory is found in the process itself.
//
// HotSpot keeps the region in a file /tmp/hsperfdata_USER/INNER-PID (os/posix/perfMemory_posix.cpp); with
// -XX:+PerfDisableSharedMem, or when that file could not be had (two pid namespaces that share /tmp, JDK-8286030), in
// private memory of the same layout. Threads: any.
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

// The mapping of the process's own hsperfdata file; null where it maps none.
const target::Mapping* find_region_mapping(const std::vector<target::Mapping>& mappings);

// The file behind `mapping`, proven to be that file (device and inode), secure, and owned by the process's user.
// Errors: kPermission, kNotFound (the name now means another file and the mapped one cannot be reached).
Result<RegionFile> open_mapped_region(const target::Process& process, const target::Mapping& mapping);

// The address of a private region in the process: the page in private anonymous memory that holds one. Looks at the
// first bytes of each present page of the mappings up to 64 MiB (the region has its own, 32 KiB by default).
// Errors: kRefused (there is none), those of reading the memory.
Result<target::Address> scan_private_region(const target::Process& process,
                                            const std::vector<target::Mapping>& mappings);

// Why a JVM has no counters, as far as its command line tells, as an Error of kRefused.
Error no_counters(const target::Process& process);

// One lock of /proc/locks (proc_locks(5)); pid as our namespace sees it, 0 where it does not.
struct FileLock {
  pid_t pid = 0;
  dev_t device = 0;
  ino_t inode = 0;
};
std::vector<FileLock> parse_flocks(std::string_view text);

// The process that maps the file or holds its flock (0: one of another pid namespace). Nothing: nobody we can see.
std::optional<pid_t> holder_of(const FileFacts& file);
// A process other than `self` that maps the file: before JDK-8286030 two JVMs of one inner pid wrote into one file.
std::optional<pid_t> other_mapper(const FileFacts& file, pid_t self);

// A file in a hsperfdata_* directory that no process maps or locks.
struct StaleFile {
  std::string path;
  pid_t name = 0;  // the inner pid it is named after
  FileFacts facts;
};
// Below the directory `tmp`, which is called `shown` in paths. `mapped`: the inodes that live JVMs map. Nothing is
// deleted or locked. A file of a JVM that we may not look at and that holds no flock (before JDK-8286030) counts as
// stale.
std::vector<StaleFile> find_stale_files(UniqueFd tmp, const std::string& shown, const std::vector<ino_t>& mapped);

}  // namespace jtrace::perfdata
