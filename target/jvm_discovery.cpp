#include "target/jvm_discovery.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/strings.h"
#include "target/hsperfdata_strings.h"
#include "target/java_command.h"

namespace jtrace::target {
namespace {

constexpr std::size_t kPerfDataLimit = 8u << 20;  // -XX:PerfDataMemorySize is 32 KiB (8) or 64 KiB by default

bool is_hsperfdata(const Mapping& mapping) {
  const std::size_t at = mapping.path.rfind("/hsperfdata_");
  return at != mapping.path.npos && !mapping.file_name().empty() &&
         mapping.file_name().find_first_not_of("0123456789") == std::string_view::npos;
}

std::map<std::string, std::string> read_perf_strings(const Process& process, const std::vector<Mapping>& mappings) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), is_hsperfdata);
  if (found == mappings.end()) return {};
  const auto fd = process.open_mapped(*found);
  if (!fd) return {};
  struct stat facts {};
  // Checks that it is the mapped file: the name may belong to another file by now.
  if (::fstat(fd->get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_ino != found->inode) return {};
  const auto text = read_whole(fd->get(), found->path, kPerfDataLimit);
  if (!text) return {};
  return hsperfdata_strings(std::as_bytes(std::span(*text)));
}

std::string perf_string(const Jvm& jvm, const char* name) {
  const auto found = jvm.perf_strings.find(name);
  return found == jvm.perf_strings.end() ? std::string() : found->second;
}

std::string version_of(const Process& process, const Jvm& jvm) {
  if (std::string version = perf_string(jvm, "java.property.java.version"); !version.empty()) return version;
  std::string home = home_of_libjvm(jvm.libjvm);
  if (home.empty()) return {};
  auto text = process.read_in_root(home + "/release");
  if (!text && home.ends_with("/jre")) text = process.read_in_root(home.substr(0, home.size() - 4) + "/release");
  return text ? version_of_release_file(*text) : std::string();
}

// sun.rt.javaCommand is "MAIN args". MAIN may contain blanks; its end is known from the command line.
std::string main_class_of(const Process& process, const Jvm& jvm) {
  const std::string command = perf_string(jvm, "sun.rt.javaCommand");
  std::string main = main_of_command_line(process.cmdline());
  if (command.empty() || (!main.empty() && command.starts_with(main))) return main;
  return command.substr(0, command.find(' '));
}

Jvm identity_of(const Process& process) {
  Jvm jvm;
  jvm.pid = process.pid();
  jvm.nspid = process.nspid();
  jvm.uid = process.uid();
  jvm.gid = process.gid();
  jvm.user = user_name(jvm.uid);
  jvm.container = process.container();
  return jvm;
}

Jvm examine_mapped(const Process& process, const std::vector<Mapping>& mappings, const Mapping& libjvm) {
  Jvm jvm = identity_of(process);
  jvm.libjvm = process.path_inside(libjvm.path);
  jvm.perf_strings = read_perf_strings(process, mappings);
  jvm.version = version_of(process, jvm);
  jvm.feature = feature_of_version(jvm.version);
  jvm.main_class = main_class_of(process, jvm);
  return jvm;
}

bool is_openj9(const std::vector<Mapping>& mappings) {
  return std::any_of(mappings.begin(), mappings.end(),
                     [](const Mapping& m) { return m.file_name().starts_with("libj9vm"); });
}

Error not_a_jvm(const Process& process, const std::vector<Mapping>& mappings) {
  const std::string who = "process " + std::to_string(process.pid()) + " (" + process.comm() + ")";
  Error error{.category = ErrorCategory::kNotAttachable};
  error.text =
      who + (is_openj9(mappings) ? " is an OpenJ9 VM, not HotSpot" : " has no libjvm.so mapped: not a HotSpot JVM");
  error.help = "jtrace list shows the JVMs";
  return error;
}

// A process whose mappings may not be read, but whose name is java.
bool calls_itself_java(const Process& process) {
  if (process.cmdline().empty()) return false;
  const std::string& program = process.cmdline().front();
  return program.substr(program.rfind('/') + 1) == "java";
}

bool is_hidden(const Error& error) { return error.errnum == EACCES || error.errnum == EPERM; }

void examine_for_list(pid_t pid, Discovery& discovery) {
  const auto process = Process::open(pid);
  if (!process || process->cmdline().empty()) return;
  const auto mappings = process->maps();
  if (mappings) {
    const Mapping* libjvm = find_libjvm(*mappings);
    if (libjvm && !is_openj9(*mappings)) discovery.jvms.push_back(examine_mapped(*process, *mappings, *libjvm));
    return;
  }
  if (!is_hidden(mappings.error())) return;
  if (!calls_itself_java(*process)) {
    ++discovery.hidden;
    return;
  }
  Jvm jvm = identity_of(*process);
  jvm.main_class = main_of_command_line(process->cmdline());
  discovery.jvms.push_back(std::move(jvm));
}

}  // namespace

std::optional<bool> Jvm::attach_enabled() const {
  const auto found = perf_strings.find("sun.rt.jvmCapabilities");
  if (found == perf_strings.end() || found->second.empty()) return std::nullopt;
  return found->second.front() == '1';
}

const Mapping* find_libjvm(const std::vector<Mapping>& mappings) {
  const Mapping* first = nullptr;
  bool executable = false;
  for (const Mapping& mapping : mappings) {
    if (mapping.file_name() != "libjvm.so") continue;
    if (!first) first = &mapping;
    executable |= mapping.executable && mapping.inode == first->inode;
  }
  return executable ? first : nullptr;  // a program that only reads the file is not a JVM
}

Result<Mapping> libjvm_mapping(const Process& process) {
  JTRACE_ASSIGN_OR_RETURN(const auto mappings, process.maps());
  const Mapping* libjvm = find_libjvm(mappings);
  if (!libjvm || is_openj9(mappings)) return fail(not_a_jvm(process, mappings));
  return *libjvm;
}

bool looks_like_jvm(const Process& process) {
  const auto mappings = process.maps();
  if (!mappings) return is_hidden(mappings.error()) && calls_itself_java(process);
  return find_libjvm(*mappings) && !is_openj9(*mappings);
}

Result<Jvm> examine_jvm(const Process& process) {
  JTRACE_ASSIGN_OR_RETURN(const auto mappings, process.maps());
  const Mapping* libjvm = find_libjvm(mappings);
  if (!libjvm || is_openj9(mappings)) return fail(not_a_jvm(process, mappings));
  return examine_mapped(process, mappings, *libjvm);
}

Discovery discover_jvms() {
  Discovery discovery;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  std::vector<pid_t> pids;
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr)
    if (const auto pid = parse_decimal<pid_t>(entry->d_name)) pids.push_back(*pid);
  std::sort(pids.begin(), pids.end());
  for (pid_t pid : pids) examine_for_list(pid, discovery);
  return discovery;
}

std::string user_name(uid_t uid) {
  const auto passwd = read_file("/etc/passwd");
  if (passwd)
    for (std::string_view line : split(*passwd, '\n')) {
      const auto fields = split(line, ':');
      if (fields.size() > 2 && parse_decimal<uid_t>(fields[2]) == uid) return std::string(fields[0]);
    }
  return std::to_string(uid);
}

}  // namespace jtrace::target
