#include "session/document/trace_identity.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/secrets.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "session/document/one_line.h"

namespace jtrace::session {
namespace {

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// The IPv4 addresses of all interfaces that are up, except loopback.
std::string ip_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::string text;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const bool counts = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
                        (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (!counts) continue;
    sockaddr_in address{};
    std::memcpy(&address, each->ifa_addr, sizeof address);
    char digits[INET_ADDRSTRLEN] = "";
    if (::inet_ntop(AF_INET, &address.sin_addr, digits, sizeof digits) == nullptr) continue;
    if (!text.empty()) text += ',';
    text += digits;
  }
  ::freeifaddrs(all);
  return text.empty() ? "127.0.0.1" : text;
}

// "btime" of /proc/stat: whole seconds, equal for all processes.
std::uint64_t boot_time() {
  const auto text = read_file("/proc/stat");
  if (!text) return 0;
  for (const std::string_view line : split(*text, '\n'))
    if (line.starts_with("btime ")) return parse_decimal<std::uint64_t>(line.substr(6)).value_or(0) * kNanosPerSecond;
  return 0;
}

long seconds_east_now() {
  const time_t now = ::time(nullptr);
  tm local{};
  ::localtime_r(&now, &local);
  return local.tm_gmtoff;
}

std::string perf_string(const target::Jvm& jvm, const char* name) {
  const auto found = jvm.perf_strings.find(name);
  return found == jvm.perf_strings.end() ? std::string() : found->second;
}

// The main class and its arguments, with secrets masked.
std::string executable(const target::Process& process, const target::Jvm& jvm, bool show_secrets) {
  if (const std::string command = perf_string(jvm, "sun.rt.javaCommand"); !command.empty())
    return show_secrets ? command : mask_secrets(command);
  const std::vector<std::string> words = process.cmdline();
  if (!show_secrets) return mask_secrets_of_words(words);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

struct Field {
  std::string_view key;
  std::string TraceIdentity::*member;
};
constexpr Field kFields[] = {
    {"node_id", &TraceIdentity::node_id},
    {"hostname", &TraceIdentity::hostname},
    {"ip_addresses", &TraceIdentity::ip_addresses},
    {"process_id", &TraceIdentity::process_id},
    {"process_name", &TraceIdentity::process_name},
    {"vm_begin_time", &TraceIdentity::vm_begin_time},
    {"agent_id", &TraceIdentity::agent_id},
    {"agent_name", &TraceIdentity::agent_name},
    {"agent_version", &TraceIdentity::agent_version},
    {"agent_parameters", &TraceIdentity::agent_parameters},
    {"executable", &TraceIdentity::executable},
};
}  // namespace

std::uint32_t minutes_west(long seconds_east) {
  constexpr long kDay = 24 * 60;
  return static_cast<std::uint32_t>((kDay - (seconds_east / 60) % kDay) % kDay);
}

std::string process_uuid(std::string_view boot_id, std::uint64_t pid_namespace, int nspid, std::uint64_t start_ticks) {
  std::string name = "jtrace process ";
  name.append(boot_id).append(" ").append(std::to_string(pid_namespace)).append(" ");
  return name_based_uuid(name.append(std::to_string(nspid)).append(" ").append(std::to_string(start_ticks)));
}

std::string core_node_uuid(std::string_view build_id) {
  return name_based_uuid("jtrace core node " + std::string(build_id));
}

std::string core_process_uuid(std::string_view build_id, int nspid, std::int64_t vm_begin_time) {
  std::string name = "jtrace core process ";
  name.append(build_id).append(" ").append(std::to_string(nspid)).append(" ");
  return name_based_uuid(name.append(std::to_string(vm_begin_time)));
}

TraceIdentity identify(const target::Process& process, const target::Jvm& jvm, const TraceOptions& options) {
  TraceIdentity identity;
  identity.node_id = target::boot_id();
  identity.hostname = host_name();
  identity.ip_addresses = ip_addresses();
  identity.timezone = minutes_west(seconds_east_now());
  identity.boot_time = boot_time();
  identity.pid = process.pid();
  identity.nspid = process.nspid();
  identity.start_ticks = process.start_ticks();
  identity.process_id = process_uuid(identity.node_id, process.pid_namespace(), process.nspid(), process.start_ticks());
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  identity.process_time = identity.boot_time + process.start_ticks() * (kNanosPerSecond / ticks);
  identity.process_name = jvm.main_class.empty() ? process.comm() : jvm.main_class;
  identity.executable = executable(process, jvm, options.show_secrets);
  identity.agent_id = random_uuid();
  identity.agent_name = "jtrace";
  identity.agent_parameters =
      options.show_secrets ? options.agent_parameters : masked_option_string(options.agent_parameters);
  identity.agent_version = JTRACE_VERSION;
  return identity;
}

std::string to_lines(const TraceIdentity& identity, std::size_t longest_value) {
  std::string lines;
  lines += "pid=" + std::to_string(identity.pid) + "\n";
  lines += "nspid=" + std::to_string(identity.nspid) + "\n";
  lines += "start_ticks=" + std::to_string(identity.start_ticks) + "\n";
  if (identity.timezone) lines += "timezone=" + std::to_string(*identity.timezone) + "\n";
  lines += "boot_time=" + std::to_string(identity.boot_time) + "\n";
  lines += "process_time=" + std::to_string(identity.process_time) + "\n";
  for (const Field& field : kFields)
    lines.append(field.key).append("=").append(on_one_line((identity.*field.member).substr(0, longest_value))) += '\n';
  return lines;
}

void read_line(TraceIdentity& identity, std::string_view key, std::string_view value) {
  const auto number = parse_decimal<std::uint64_t>(value);
  if (key == "pid") identity.pid = static_cast<int>(number.value_or(0));
  if (key == "nspid") identity.nspid = static_cast<int>(number.value_or(0));
  if (key == "start_ticks") identity.start_ticks = number.value_or(0);
  if (key == "timezone") identity.timezone = static_cast<std::uint32_t>(number.value_or(0));
  if (key == "boot_time") identity.boot_time = number.value_or(0);
  if (key == "process_time") identity.process_time = number.value_or(0);
  for (const Field& field : kFields)
    if (field.key == key) identity.*field.member = from_one_line(value);
}

}  // namespace jtrace::session
