// The bpf(2) calls that the probes need, with errors that name what is missing. Constants newer than the headers of
// Linux 6.1 are written out. Everything made here is removed with its descriptor, also if the process is killed.
// Threads: any.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::dtrace {

struct MapSpec {
  std::uint32_t type = 0;  // BPF_MAP_TYPE_*
  std::uint32_t key_size = 0;
  std::uint32_t value_size = 0;
  std::uint32_t entries = 0;
};
// Errors: kSystem; for EPERM with the capability that is needed.
Result<UniqueFd> create_bpf_map(const MapSpec& spec, const char* name);

// Loads a program for uprobes. `multi`: for attach_uprobes() (Linux 6.6), otherwise for attach_uprobe(). A program that
// the verifier refuses is a fault of jtrace: the error has the end of its log.
Result<UniqueFd> load_uprobe_program(std::span<const bpf_insn> code, bool multi);

struct UprobePlace {
  std::uint64_t offset = 0;     // in the file
  std::uint64_t semaphore = 0;  // in the file; 0: none
  std::uint64_t cookie = 0;
};
// One link for all places of a file (`path`: any name of it, also /proc/self/fd/N), for one process or, with pid 0, for
// all.
Result<UniqueFd> attach_uprobes(int program, const std::string& path, std::span<const UprobePlace> places, pid_t pid);

// One place, with a perf event of its own (Linux 5.15), in all threads of a process. Two descriptors.
struct PerfUprobe {
  UniqueFd event, link;
};
Result<PerfUprobe> attach_uprobe(int program, const std::string& path, const UprobePlace& place, pid_t pid);

// The value of an array map's only element.
Result<> read_bpf_element(int map, std::span<std::byte> value);

// Calls `entry` with each key and value of a hash map. Entries that change meanwhile may be missing or come twice.
Result<> read_bpf_hash(int map, std::span<std::byte> key, std::span<std::byte> value,
                       const std::function<void()>& entry);

// The type number of the kernel's perf events for uprobes; an error if it has none.
Result<std::uint32_t> uprobe_event_type();

// What helps against EPERM and EACCES of these calls.
std::string privilege_help();

}  // namespace jtrace::dtrace
