#include "target/proc_text.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "target/stat_line.h"

namespace jtrace::target {
namespace {

template <class T>
T number(std::string_view text, int base = 10) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

// Splits into non-empty words at blanks and tabs.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == text.npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
  return out;
}

void set_status_field(ProcessStatus& status, std::string_view key, std::string_view value) {
  const auto word = [&](std::size_t index) {
    const auto all = words(value);
    return index < all.size() ? all[index] : std::string_view();
  };
  if (key == "Name") status.name = value;
  else if (key == "State") status.state = value.empty() ? '?' : value.front();
  else if (key == "Tgid") status.tgid = number<pid_t>(value);
  else if (key == "Pid") status.pid = number<pid_t>(value);
  else if (key == "PPid") status.ppid = number<pid_t>(value);
  else if (key == "TracerPid") status.tracer = number<pid_t>(value);
  else if (key == "Uid") status.uid = number<uid_t>(word(1));
  else if (key == "Gid") status.gid = number<gid_t>(word(1));
  else if (key == "NSpid")
    for (std::string_view pid : words(value)) status.nspid.push_back(number<pid_t>(pid));
  else if (key == "SigPnd") status.signals_pending = number<std::uint64_t>(value, 16);
  else if (key == "ShdPnd") status.signals_pending_shared = number<std::uint64_t>(value, 16);
  else if (key == "SigCgt") status.signals_caught = number<std::uint64_t>(value, 16);
}

// Decodes \ooo, as mountinfo writes blank, tab, newline and backslash.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(number<unsigned>(text.substr(i + 1, 3), 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool has_option(std::string_view options, std::string_view option) {
  const auto all = split(options, ',');
  return std::find(all.begin(), all.end(), option) != all.end();
}

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": optional fields end with "-".
bool parse_mount_line(std::string_view line, MountEntry& entry) {
  const auto fields = words(line);
  const auto dash = std::find(fields.begin() + std::min<std::ptrdiff_t>(6, std::ssize(fields)), fields.end(), "-");
  if (fields.end() - dash < 4) return false;
  const auto device = split(fields[2], ':');
  if (device.size() != 2) return false;
  entry.device = makedev(number<unsigned>(device[0]), number<unsigned>(device[1]));
  entry.root = unescaped(fields[3]);
  entry.point = unescaped(fields[4]);
  entry.type = dash[1];
  entry.writable = !has_option(fields[5], "ro") && !has_option(dash[3], "ro");
  entry.noexec = has_option(fields[5], "noexec") || has_option(dash[3], "noexec");
  return true;
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// "docker-<64 hex>.scope", "cri-containerd-<64 hex>.scope", "libpod-<64 hex>", "<64 hex>": the 64 hex digits.
std::string_view container_id(std::string_view component) {
  if (component.ends_with(".scope")) component.remove_suffix(6);
  if (component.size() < 64) return {};
  const std::string_view tail = component.substr(component.size() - 64);
  const bool bounded = component.size() == 64 || component[component.size() - 65] == '-';
  return bounded && is_hex(tail) ? tail : std::string_view();
}

// "kubepods-burstable-pod<uid with _>.slice" or "pod<uid>": "pod<uid>".
std::string pod_id(std::string_view component) {
  if (component.ends_with(".slice")) component.remove_suffix(6);
  const std::size_t at = component.starts_with("pod") ? 0 : component.rfind("-pod");
  if (at == component.npos) return {};
  std::string pod(component.substr(at == 0 ? 0 : at + 1));
  std::replace(pod.begin(), pod.end(), '_', '-');
  return pod.size() >= 3 + 32 ? pod : std::string();
}

// A named system container: "/lxc.payload.NAME", "/lxc/NAME", "/machine.slice/machine-NAME.scope" (systemd-nspawn).
std::string machine_name(const std::vector<std::string_view>& components) {
  for (std::size_t i = 0; i < components.size(); ++i) {
    std::string_view c = components[i];
    if (c.starts_with("lxc.payload.")) return std::string(c.substr(12));
    if (c == "lxc" && i + 1 < components.size()) return std::string(components[i + 1]);
    if (c.starts_with("machine-") && c.ends_with(".scope")) return std::string(c.substr(8, c.size() - 14));
  }
  return {};
}

}  // namespace

ProcessStatus parse_status(std::string_view text) {
  ProcessStatus status;
  for (std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != line.npos) set_status_field(status, line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  return status;
}

std::uint64_t parse_start_ticks(std::string_view stat) { return StatLine(stat).number(StatLine::kStartTicks); }

std::uint64_t parse_cpu_ticks(std::string_view stat) {
  const StatLine line(stat);
  return line.number(StatLine::kUserTicks) + line.number(StatLine::kSystemTicks);
}

std::optional<std::uint64_t> soft_limit(std::string_view limits, std::string_view name) {
  for (const std::string_view line : split(limits, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::string_view rest = trimmed(line.substr(name.size()));
    return parse_decimal<std::uint64_t>(rest.substr(0, rest.find(' ')));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> bytes_of_status(std::string_view status, std::string_view name) {
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    const std::string_view rest = trimmed(line.substr(name.size() + 1));
    const auto kib = parse_decimal<std::uint64_t>(rest.substr(0, rest.find(' ')));
    return kib ? std::optional(*kib << 10) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string> parse_cmdline(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    arguments.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return arguments;
}

std::vector<MountEntry> parse_mountinfo(std::string_view text) {
  std::vector<MountEntry> mounts;
  for (std::string_view line : split(text, '\n')) {
    MountEntry entry;
    if (parse_mount_line(line, entry)) mounts.push_back(std::move(entry));
  }
  return mounts;
}

const MountEntry* mount_of(const std::vector<MountEntry>& mounts, std::string_view path) {
  const MountEntry* best = nullptr;
  for (const MountEntry& mount : mounts) {
    const std::string_view point = mount.point == "/" ? std::string_view() : std::string_view(mount.point);
    const bool holds = path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
    if (holds && (!best || mount.point.size() >= best->point.size())) best = &mount;
  }
  return best;
}

std::string container_of_cgroup(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    const auto components = split(line, '/');
    std::string pod;
    for (std::string_view component : components) {
      if (std::string found = pod_id(component); !found.empty()) pod = found;
      if (const auto id = container_id(component); !id.empty())
        return pod.empty() ? std::string(id) : pod + '/' + std::string(id);
    }
    if (std::string name = machine_name(components); !name.empty()) return name;
  }
  return {};
}

}  // namespace jtrace::target
