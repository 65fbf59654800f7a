#include "dtrace/bpf.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::dtrace {
namespace {

constexpr std::uint32_t kUprobeMulti = 48;   // BPF_TRACE_UPROBE_MULTI, linux/bpf.h of Linux 6.6
constexpr char kLicense[] = "Dual MIT/GPL";  // helpers that read another process's memory need a GPL-compatible program

// The part of union bpf_attr that BPF_LINK_CREATE reads for uprobe_multi (linux/bpf.h of Linux 6.6).
struct MultiLink {
  std::uint32_t program;
  std::uint32_t target;
  std::uint32_t attach_type;
  std::uint32_t link_flags;
  std::uint64_t path;
  std::uint64_t offsets;
  std::uint64_t semaphores;
  std::uint64_t cookies;
  std::uint32_t count;
  std::uint32_t flags;
  std::uint32_t pid;
  std::uint32_t padding;
};

long bpf(int command, void* attributes, std::size_t size) {
  return ::syscall(SYS_bpf, command, attributes, static_cast<unsigned>(size));
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Error bpf_error(std::string_view what) {
  Error error = system_error(what);
  if (error.errnum == EPERM || error.errnum == EACCES) error = error.with_help(privilege_help());
  if (error.errnum == ENOSYS) error = error.with_help("this kernel has no bpf(2)");
  return error;
}

std::string tail_of(const std::vector<char>& log) {
  const std::string_view text = trimmed(std::string_view(log.data(), ::strnlen(log.data(), log.size())));
  std::string tail(text.substr(text.size() > 400 ? text.size() - 400 : 0));
  for (char& c : tail)
    if (c == '\n') c = '|';
  return tail;
}

}  // namespace

std::string privilege_help() { return "it takes root, or CAP_BPF and CAP_PERFMON (with Linux 6.6 or later)"; }

Result<UniqueFd> create_bpf_map(const MapSpec& spec, const char* name) {
  bpf_attr attributes{};
  attributes.map_type = spec.type;
  attributes.key_size = spec.key_size;
  attributes.value_size = spec.value_size;
  attributes.max_entries = spec.entries;
  std::strncpy(attributes.map_name, name, sizeof attributes.map_name - 1);
  const long fd = bpf(BPF_MAP_CREATE, &attributes, sizeof attributes);
  if (fd < 0) return fail(bpf_error("cannot make a BPF map"));
  return UniqueFd(static_cast<int>(fd));
}

Result<UniqueFd> load_uprobe_program(std::span<const bpf_insn> code, bool multi) {
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_KPROBE;
  attributes.insns = address_of(code.data());
  attributes.insn_cnt = static_cast<std::uint32_t>(code.size());
  attributes.license = address_of(kLicense);
  attributes.expected_attach_type = multi ? kUprobeMulti : 0;
  std::strncpy(attributes.prog_name, "jtrace_probes", sizeof attributes.prog_name - 1);
  long fd = bpf(BPF_PROG_LOAD, &attributes, sizeof attributes);
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  Error error = bpf_error("cannot load the BPF program");
  if (error.errnum != EACCES && error.errnum != EINVAL && error.errnum != E2BIG) return fail(std::move(error));
  std::vector<char> log(1u << 24);
  attributes.log_level = 1;
  attributes.log_buf = address_of(log.data());
  attributes.log_size = static_cast<std::uint32_t>(log.size());
  fd = bpf(BPF_PROG_LOAD, &attributes, sizeof attributes);
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  if (log.front() != '\0') error.help = "the verifier says: " + tail_of(log);
  return fail(std::move(error));
}

Result<UniqueFd> attach_uprobes(int program, const std::string& path, std::span<const UprobePlace> places, pid_t pid) {
  std::vector<std::uint64_t> offsets, semaphores, cookies;
  bool any_semaphore = false;
  for (const UprobePlace& place : places) {
    offsets.push_back(place.offset);
    semaphores.push_back(place.semaphore);
    cookies.push_back(place.cookie);
    any_semaphore |= place.semaphore != 0;
  }
  MultiLink link{};
  link.program = static_cast<std::uint32_t>(program);
  link.attach_type = kUprobeMulti;
  link.path = address_of(path.c_str());
  link.offsets = address_of(offsets.data());
  link.semaphores = any_semaphore ? address_of(semaphores.data()) : 0;
  link.cookies = address_of(cookies.data());
  link.count = static_cast<std::uint32_t>(places.size());
  link.pid = static_cast<std::uint32_t>(pid);
  const long fd = bpf(BPF_LINK_CREATE, &link, sizeof link);
  if (fd < 0) return fail(bpf_error("cannot attach to the probes by uprobe_multi"));
  return UniqueFd(static_cast<int>(fd));
}

Result<std::uint32_t> uprobe_event_type() {
  const std::string path = "/sys/bus/event_source/devices/uprobe/type";
  const auto text = read_file(path, 64);
  const auto type = text ? parse_decimal<std::uint32_t>(trimmed(*text)) : std::nullopt;
  if (!type)
    return fail(ErrorCategory::kSystem, "this kernel has no uprobes: cannot read " + path,
                "it takes CONFIG_UPROBE_EVENTS, and /sys mounted");
  return *type;
}

Result<PerfUprobe> attach_uprobe(int program, const std::string& path, const UprobePlace& place, pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(const std::uint32_t type, uprobe_event_type());
  perf_event_attr event{};
  event.type = type;
  event.size = sizeof event;
  event.config = place.semaphore << 32;  // format/ref_ctr_offset
  event.config1 = address_of(path.c_str());
  event.config2 = place.offset;
  event.sample_period = 1;
  PerfUprobe made;
  made.event.reset(
      static_cast<int>(::syscall(SYS_perf_event_open, &event, pid, pid == -1 ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!made.event) return fail(bpf_error("cannot open a perf event for a uprobe"));
  bpf_attr attributes{};
  attributes.link_create.prog_fd = static_cast<std::uint32_t>(program);
  attributes.link_create.target_fd = static_cast<std::uint32_t>(made.event.get());
  attributes.link_create.attach_type = BPF_PERF_EVENT;
  attributes.link_create.perf_event.bpf_cookie = place.cookie;
  made.link.reset(static_cast<int>(bpf(BPF_LINK_CREATE, &attributes, sizeof attributes)));
  if (!made.link) return fail(bpf_error("cannot attach the BPF program to a perf event"));
  return made;
}

Result<> read_bpf_element(int map, std::span<std::byte> value) {
  const std::uint32_t key = 0;
  bpf_attr attributes{};
  attributes.map_fd = static_cast<std::uint32_t>(map);
  attributes.key = address_of(&key);
  attributes.value = address_of(value.data());
  if (bpf(BPF_MAP_LOOKUP_ELEM, &attributes, sizeof attributes) != 0) return fail(bpf_error("cannot read a BPF map"));
  return {};
}

Result<> read_bpf_hash(int map, std::span<std::byte> key, std::span<std::byte> value,
                       const std::function<void()>& entry) {
  std::vector<std::byte> next(key.size());
  for (bool first = true;; first = false) {
    bpf_attr attributes{};
    attributes.map_fd = static_cast<std::uint32_t>(map);
    attributes.key = first ? 0 : address_of(key.data());
    attributes.next_key = address_of(next.data());
    if (bpf(BPF_MAP_GET_NEXT_KEY, &attributes, sizeof attributes) != 0) {
      if (errno == ENOENT) return {};
      return fail(bpf_error("cannot read a BPF map"));
    }
    std::copy(next.begin(), next.end(), key.begin());
    bpf_attr lookup{};
    lookup.map_fd = static_cast<std::uint32_t>(map);
    lookup.key = address_of(key.data());
    lookup.value = address_of(value.data());
    if (bpf(BPF_MAP_LOOKUP_ELEM, &lookup, sizeof lookup) == 0) entry();
  }
}

}  // namespace jtrace::dtrace
