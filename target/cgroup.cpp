#include "target/cgroup.h"

#include <algorithm>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::target {
namespace {

struct Files {
  const char *limit, *used, *events;
  const char *inactive, *active;  // keys of memory.stat
};
constexpr Files kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "/memory.oom_control",
                             "total_inactive_file ", "total_active_file "};
constexpr Files kVersion2 = {"/memory.max", "/memory.current", "/memory.events", "inactive_file ", "active_file "};

// Version 1 writes LONG_MAX rounded down to a page if there is no limit; no machine has that much memory.
constexpr std::uint64_t kNoLimit = 1ull << 60;

std::uint64_t stat_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(key)) return parse_decimal<std::uint64_t>(trimmed(line.substr(key.size()))).value_or(0);
  return 0;
}

// The group's folder and those above it, up to the mount.
std::vector<std::string> folders_up(const std::string& group, const std::string& point) {
  std::vector<std::string> folders;
  for (std::string folder = group; folder.size() >= point.size(); folder.resize(folder.rfind('/'))) {
    folders.push_back(folder);
    if (folder.find('/') == folder.npos) break;
  }
  return folders;
}

// Version 2 has one hierarchy for all controllers: "".
bool is_of(const MountEntry& mount, std::string_view controller) {
  if (controller.empty()) return mount.type == "cgroup2";
  if (mount.type != "cgroup") return false;
  const std::string_view point = mount.point;
  const auto names = split(point.substr(point.rfind('/') + 1), ',');
  return std::find(names.begin(), names.end(), controller) != names.end();
}

// Of "POD/ID"; "" if there is no pod.
std::string_view pod_of(std::string_view container) {
  const std::size_t slash = container.find('/');
  return slash == container.npos ? std::string_view() : container.substr(0, slash);
}
std::string_view id_of(std::string_view container) { return container.substr(container.find('/') + 1); }

bool is_hex_id(std::string_view id) {
  constexpr std::size_t kDigits = 64;
  return id.size() == kDigits && id.find_first_not_of("0123456789abcdef") == id.npos;
}

}  // namespace

std::string_view cgroup_path(std::string_view cgroup, std::string_view controller) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    for (const std::string_view each : split(fields[1], ','))
      if (each == controller) return line.substr(fields[0].size() + fields[1].size() + 2);
  }
  return {};
}

bool is_in_group(std::string_view cgroup, std::string_view group) {
  while (group.ends_with('/')) group.remove_suffix(1);
  while (group.starts_with('/')) group.remove_prefix(1);
  if (group.empty()) return false;
  const std::string container = container_of_cgroup(cgroup);
  if (container == group || pod_of(container) == group || id_of(container) == group) return true;
  const std::string wanted = "/" + std::string(group) + "/";
  for (const std::string_view line : split(cgroup, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    const std::string path = std::string(line.substr(fields[0].size() + fields[1].size() + 2)) + "/";
    if (path.find(wanted) != path.npos) return true;
  }
  return false;
}

std::string container_with_beginning(std::string_view cgroup, std::string_view group) {
  constexpr std::size_t kLeast = 4;
  if (group.size() < kLeast || is_in_group(cgroup, group)) return {};
  std::string container = container_of_cgroup(cgroup);
  const std::string_view id = id_of(container);
  const bool of_id = id.starts_with(group);
  const bool of_whole = group.size() > container.size() - id.size() && container.starts_with(group);  // "POD/BEGINNING"
  return is_hex_id(id) && (of_id || of_whole) ? container : std::string();
}

std::string cgroup_folder(const MountEntry& mount, std::string_view path) {
  const std::string_view root = mount.root == "/" ? std::string_view() : std::string_view(mount.root);
  if (path.empty() || path.starts_with("/..") || !path.starts_with(root)) return {};
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return {};
  return path == "/" ? mount.point : mount.point + std::string(path);
}

MemoryGroup memory_group(std::string_view cgroup, const std::vector<MountEntry>& mounts) {
  for (const std::string_view controller : {"memory", ""})
    for (const MountEntry& mount : mounts) {
      if (!is_of(mount, controller)) continue;
      std::string folder = cgroup_folder(mount, cgroup_path(cgroup, controller));
      if (!folder.empty()) return {controller.empty() ? 2 : 1, mount.point, std::move(folder)};
    }
  return {};
}

std::optional<std::uint64_t> parse_group_limit(std::string_view text) {
  const auto bytes = parse_decimal<std::uint64_t>(trimmed(text));
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

Result<GroupMemory> read_group_memory(const MemoryGroup& group, const ReadFile& read) {
  if (group.version == 0)
    return fail(ErrorCategory::kNotFound,
                "the control group of the process cannot be seen from here: no limit is known");
  const Files& files = group.version == 1 ? kVersion1 : kVersion2;
  GroupMemory memory{.group = group, .limit_folder = group.folder};
  for (const std::string& folder : folders_up(group.folder, group.point)) {
    const auto text = read(folder + files.limit);
    const auto limit = text ? parse_group_limit(*text) : std::nullopt;
    if (!limit || (memory.limit && *memory.limit <= *limit)) continue;
    memory.limit = limit;
    memory.limit_folder = folder;
  }
  const auto used = read(memory.limit_folder + files.used);
  // The root of version 2 has no such file, nor has a group without the controller memory.
  if (!used) return fail(ErrorCategory::kNotFound, "the control group " + group.folder + " does not count its memory");
  memory.used = parse_decimal<std::uint64_t>(trimmed(*used)).value_or(0);
  if (const auto stat = read(memory.limit_folder + "/memory.stat")) {
    memory.inactive_file = stat_value(*stat, files.inactive);
    memory.active_file = stat_value(*stat, files.active);
  }
  if (const auto events = read(memory.limit_folder + files.events)) memory.killed = stat_value(*events, "oom_kill ");
  return memory;
}

std::vector<GroupView> group_views(const Process& process, std::string_view controller) {
  std::vector<GroupView> views;
  const auto cgroup = process.read_proc("cgroup");
  if (!cgroup) return views;
  const auto add = [&](const std::vector<MountEntry>& mounts, bool inside, const ReadFile& read) {
    for (const std::string_view name : {controller, std::string_view()})
      for (const MountEntry& mount : mounts) {
        if (!is_of(mount, name)) continue;
        std::string folder = cgroup_folder(mount, cgroup_path(*cgroup, name));
        if (folder.empty() && inside) folder = mount.point;
        if (!folder.empty()) views.push_back({name.empty() ? 2 : 1, folders_up(folder, mount.point), read});
      }
  };
  const auto here = read_file("/proc/self/mountinfo");
  if (here) add(parse_mountinfo(*here), false, [](const std::string& path) { return read_file(path); });
  const auto mounts = process.mounts();
  if (mounts) add(*mounts, true, [&process](const std::string& path) { return process.read_in_root(path); });
  return views;
}

Result<GroupMemory> read_group_memory(const Process& process) {
  std::optional<Error> first;
  for (const GroupView& view : group_views(process, "memory")) {
    auto memory = read_group_memory({view.version, view.folders.back(), view.folders.front()}, view.read);
    if (memory) return memory;
    if (!first) first = memory.error();
  }
  if (first) return fail(*first);
  return read_group_memory(MemoryGroup(), [](const std::string& path) { return read_file(path); });
}

}  // namespace jtrace::target
