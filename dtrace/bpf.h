// The bpf(2) calls that the probes need, with errors that say what is missing. Constants newer than the headers of
// Linux 6.1 are written out. Everything made here goes away with its descriptor, also when the process is killed.
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
// Errors: kSystem; EPERM says which capability it takes.
Result<UniqueFd> create_bpf_map(const MapSpec& spec, const char* name);

// For uprobes. `multi`: to be attached by attach_uprobes() (Linux 6.6), else by attach_uprobe(). A program that the
// verifier refuses is a fault of ours: the end of its log stands in the error.
Result<UniqueFd> load_uprobe_program(std::span<const bpf_insn> code, bool multi);

struct UprobePlace {
  std::uint64_t offset = 0;     // in the file
  std::uint64_t semaphore = 0;  // in the file; 0: none
  std::uint64_t cookie = 0;
};
// One link for all places of a file (`path`: any name of it, also /proc/self/fd/N), for one process or, with pid 0,
// all.
Result<UniqueFd> attach_uprobes(int program, const std::string& path, std::span<const UprobePlace> places, pid_t pid);

// One place by a perf event of its own (Linux 5.15), in all threads of a process. Two descriptors.
struct PerfUprobe {
  UniqueFd event, link;
};
Result<PerfUprobe> attach_uprobe(int program, const std::string& path, const UprobePlace& place, pid_t pid);

// The value of an array map's only element.
Result<> read_bpf_element(int map, std::span<std::byte> value);

// All of a hash map: `entry` is called with each key and value. What changes meanwhile may be missing or come twice.
Result<> read_bpf_hash(int map, std::span<std::byte> key, std::span<std::byte> value,
                       const std::function<void()>& entry);

// The number that the kernel gives to perf events of uprobes; an error where it has none.
Result<std::uint32_t> uprobe_event_type();

// What could be done about EPERM and EACCES of these calls.
std::string privilege_help();

}  // namespace jtrace::dtrace
