#include "base/free_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace {
namespace {

using Bytes = std::optional<std::uint64_t>;

std::uint64_t left(std::uint64_t limit, std::uint64_t taken) { return limit - std::min(limit, taken); }

// The number after `key` at the beginning of a line, as in "MemAvailable:   123 kB" or "inactive_file 123".
Bytes number_of(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::size_t first = line.find_first_of("0123456789", key.size());
    if (first == line.npos) return std::nullopt;
    const std::size_t last = std::min(line.find_first_not_of("0123456789", first), line.size());
    const auto number = parse_decimal<std::uint64_t>(line.substr(first, last - first));
    return number ? Bytes(*number) : std::nullopt;
  }
  return std::nullopt;
}

// A file that holds one number; "max" counts as none.
Bytes number_in(const std::string& path) {
  const auto text = read_file(path);
  return text ? number_of(*text, "") : std::nullopt;
}

std::uint64_t machine_room(const MemoryFiles& files) {
  const auto text = read_file(files.proc + "/meminfo");
  const Bytes kib = text ? number_of(*text, "MemAvailable:") : std::nullopt;
  return kib ? *kib * 1024 : UINT64_MAX;
}

Bytes room_in(const std::string& folder, const char* limit_file, const char* usage_file) {
  const Bytes limit = number_in(folder + "/" + limit_file), usage = number_in(folder + "/" + usage_file);
  if (!limit || !usage) return std::nullopt;
  const auto statistics = read_file(folder + "/memory.stat");
  const std::uint64_t droppable = statistics ? number_of(*statistics, "inactive_file").value_or(0) : 0;
  return left(*limit, left(*usage, droppable));
}

// The cgroup's own folder; in a container that is often the root of the mount.
Bytes room_of_cgroup(const std::string& mount, std::string_view path, const char* limit_file, const char* usage_file) {
  if (const Bytes room = room_in(mount + std::string(path), limit_file, usage_file)) return room;
  return room_in(mount, limit_file, usage_file);
}

std::uint64_t cgroup_room(const MemoryFiles& files) {
  const auto own = read_file(files.proc + "/self/cgroup");
  if (!own) return UINT64_MAX;
  std::uint64_t least = UINT64_MAX;
  for (std::string_view line : split(*own, '\n')) {  // NUMBER:CONTROLLERS:PATH (cgroups(7))
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    const std::string_view path = line.substr(fields[0].size() + fields[1].size() + 2);
    Bytes room;
    if (fields[1].empty()) room = room_of_cgroup(files.cgroup, path, "memory.max", "memory.current");
    const auto controllers = split(fields[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end())
      room = room_of_cgroup(files.cgroup + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes");
    least = std::min(least, room.value_or(UINT64_MAX));
  }
  return least;
}

std::uint64_t address_room(const MemoryFiles& files) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  const Bytes pages = number_in(files.proc + "/self/statm");  // the first number: the size of the address space
  return left(limit.rlim_cur, pages.value_or(0) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::uint64_t free_memory(const MemoryFiles& files) {
  return std::min({machine_room(files), cgroup_room(files), address_room(files)});
}

}  // namespace jtrace
