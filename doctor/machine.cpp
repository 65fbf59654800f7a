// What this user has on this machine: rights, JVMs, cores, memory, a place for sockets.
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/file.h"
#include "base/free_memory.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "doctor/checks.h"
#include "session/ctl_socket.h"
#include "session/left_pools.h"
#include "session/options/options.h"
#include "target/jvm_discovery.h"

namespace jtrace::doctor {
namespace {

struct Capability {
  int number;
  const char* name;
};
// CAP_PERFMON and CAP_BPF came with Linux 5.8, so their numbers are written here.
constexpr Capability kUsable[] = {{CAP_SYS_PTRACE, "SYS_PTRACE"},
                                  {CAP_DAC_READ_SEARCH, "DAC_READ_SEARCH"},
                                  {CAP_SYS_ADMIN, "SYS_ADMIN"},
                                  {38, "PERFMON"},
                                  {39, "BPF"},
                                  {CAP_SETUID, "SETUID"},
                                  {CAP_SETGID, "SETGID"}};

// The value of a line of /proc/self/status ("CapEff:").
std::string own_status(std::string_view key) {
  const std::string text = read_file("/proc/self/status").value_or("");
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with(key)) return std::string(trimmed(line.substr(key.size())));
  return "";
}

std::string bytes_text(std::uint64_t bytes) { return bytes == UINT64_MAX ? "unlimited" : whole_mib_text(bytes); }

void check_user(std::vector<Check>& checks) {
  utsname system{};
  ::uname(&system);
  Check check{.name = "user"};
  check.finding = target::user_name(::geteuid()) + " (uid " + std::to_string(::geteuid()) + "), capabilities " +
                  usable_capabilities() + ", seccomp " + (own_status("Seccomp:") == "0" ? "off" : "on") + ", Linux " +
                  system.release;
  checks.push_back(std::move(check));
}

// hidepid hides other users' processes altogether (proc(5)).
bool proc_hides() {
  const std::string mounts = read_file("/proc/self/mounts").value_or("");
  for (std::string_view line : split(mounts, '\n'))
    if (line.starts_with("proc /proc ") && line.find("hidepid=") != line.npos && line.find("hidepid=0") == line.npos &&
        line.find("hidepid=off") == line.npos)
      return true;
  return false;
}

void check_jvms(std::vector<Check>& checks) {
  const target::Discovery found = target::discover_jvms();
  const auto is_own = [](const target::Jvm& jvm) { return jvm.uid == ::geteuid(); };
  const auto own = std::count_if(found.jvms.begin(), found.jvms.end(), is_own);
  const auto others = static_cast<long>(found.jvms.size()) - own;
  const std::string hidden = proc_hides() ? "; /proc is mounted with hidepid: others' processes are not seen" : "";

  Check attach{.name = "attach", .finding = std::to_string(own) + " JVMs of this user, which it may attach to"};
  checks.push_back(std::move(attach));

  Check other{.name = "other users' JVMs", .finding = std::to_string(others) + " seen" + hidden};
  const bool reads = has_capability(CAP_SYS_PTRACE) && has_capability(CAP_DAC_READ_SEARCH);
  if (::geteuid() != 0) {
    other.ability = reads ? Ability::kPartly : Ability::kNo;
    other.finding += reads ? "; they may be looked into, not attached to" : "; they may not be looked into";
    other.commands = {"jtrace attach", "jtrace cmd", "jtrace load"};
    if (!reads) other.commands.insert(other.commands.end(), {"jtrace stack", "jtrace inspect", "hsperf"});
    other.help = reads ? "root, or the JVM's own user: HotSpot accepts no other"
                       : "root, or the JVM's own user; to look only, CAP_SYS_PTRACE with CAP_DAC_READ_SEARCH";
  }
  checks.push_back(std::move(other));
}

void check_cores(std::vector<Check>& checks) {
  const std::string pattern = std::string(trimmed(read_file("/proc/sys/kernel/core_pattern").value_or("?")));
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  Check check{.name = "core files", .finding = "kernel.core_pattern is '" + pattern + "'"};
  const bool piped = pattern.starts_with("|");
  if (limit.rlim_cur == 0 && !piped) {
    check.ability = Ability::kPartly;
    check.finding += "; what is started from here leaves none (ulimit -c is 0)";
    check.commands = {"jtrace stack CORE", "jtrace inspect CORE"};
    check.help = "ulimit -c unlimited before the JVM is started; existing cores can be read in any case";
  } else if (piped) {
    check.finding += ": a program takes them (coredumpctl dump writes one out)";
  }
  checks.push_back(std::move(check));
}

// "" where killed traces left no ring memory.
std::string left_pools_text() {
  std::uint64_t count = 0, bytes = 0;
  for (const session::LeftPool& pool : session::list_left_pools()) {
    if (pool.state == session::LeftPool::State::kInUse) continue;
    ++count;
    bytes += pool.size;
  }
  if (count == 0) return "";
  return "; killed traces left " + bytes_text(bytes) + " in " + std::to_string(count) +
         (count == 1 ? " file" : " files") + ": jtrace recover lists what is there";
}

void check_memory(std::vector<Check>& checks) {
  const std::uint64_t wanted = session::TraceOptions().ring_memory;
  struct statvfs shm {};
  const bool there = ::statvfs("/dev/shm", &shm) == 0 && ::access("/dev/shm", W_OK) == 0;
  const std::uint64_t room = there ? shm.f_bavail * shm.f_frsize : 0;
  const std::uint64_t free = free_memory();
  Check check{.name = "ring memory",
              .finding = "/dev/shm has " + (there ? bytes_text(room) : "no room for us") + ", " + bytes_text(free) +
                         " of memory may be taken; a trace takes " + bytes_text(wanted)};
  check.finding += left_pools_text();
  if (free < 2 * wanted) {
    check.ability = Ability::kNo;
    check.commands = {"jtrace attach"};
    check.help = "--ring-memory 8M, or a larger limit of memory";
  } else if (room < wanted + wanted / 8) {
    check.ability = Ability::kPartly;
    check.commands = {"jtrace attach (then takes less, or a file in the output's folder)"};
    check.help = "docker run --shm-size 128m, or --ring-memory 8M";
  }
  checks.push_back(std::move(check));
}

void check_runtime_folder(std::vector<Check>& checks) {
  Check check{.name = "runtime folder"};
  const std::string made[] = {"/run/jtrace-" + std::to_string(::geteuid()),
                              "/tmp/jtrace-" + std::to_string(::geteuid())};
  std::vector<std::string> missing;
  std::copy_if(std::begin(made), std::end(made), std::back_inserter(missing),
               [](const std::string& path) { return ::access(path.c_str(), F_OK) != 0; });
  if (const auto folder = session::runtime_folder()) {
    check.finding = *folder;
    // Made by this check. If a trace has begun to use it, it is not empty and stays.
    for (const std::string& path : missing) ::rmdir(path.c_str());
  } else {
    check.ability = Ability::kPartly;
    check.finding = Error{folder.error()}.with_help("").message();
    check.commands = {"jtrace ctl"};
    check.help = "XDG_RUNTIME_DIR naming a folder of this user's own with mode 0700";
  }
  checks.push_back(std::move(check));
}

}  // namespace

std::string_view to_string(Ability ability) {
  constexpr std::string_view kWords[] = {"yes", "partly", "no"};
  return kWords[static_cast<std::size_t>(ability)];
}

bool has_capability(int number) {
  const std::string text = own_status("CapEff:");
  return (std::strtoull(text.c_str(), nullptr, 16) >> number & 1) != 0;
}

std::string usable_capabilities() {
  std::string text;
  std::size_t count = 0;
  for (const Capability& capability : kUsable)
    if (has_capability(capability.number)) text += (count++ == 0 ? "" : "+") + std::string(capability.name);
  return count == std::size(kUsable) ? "all" : count == 0 ? "none" : text;
}

std::vector<Check> check_machine() {
  std::vector<Check> checks;
  check_user(checks);
  check_jvms(checks);
  check_kernel(checks);
  check_cores(checks);
  check_memory(checks);
  check_runtime_folder(checks);
  return checks;
}

}  // namespace jtrace::doctor
