#include "attach/freezer.h"

#include <algorithm>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::attach {

std::vector<std::string> freezer_files(std::string_view cgroups) {
  std::vector<std::string> files;
  for (std::string_view line : split(cgroups, '\n')) {
    // NUMBER:CONTROLLERS:PATH. The root cannot be frozen; a path with ".." is outside of what this process sees.
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string path(line.substr(second + 1));
    if (path.size() < 2 || path.find("..") != path.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty())
      for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        files.push_back(mount + path + "/cgroup.events");
    const auto names = split(controllers, ',');
    if (std::find(names.begin(), names.end(), "freezer") != names.end())
      files.push_back("/sys/fs/cgroup/freezer" + path + "/freezer.state");
  }
  return files;
}

bool shows_frozen(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line == "frozen 1" || line == "FROZEN" || line == "FREEZING";
  });
}

bool is_frozen(const target::Process& process) {
  const auto cgroups = process.read_proc("cgroup");
  if (!cgroups) return false;
  const auto files = freezer_files(*cgroups);
  return std::any_of(files.begin(), files.end(),
                     [](const std::string& file) { return shows_frozen(read_file(file).value_or("")); });
}

}  // namespace jtrace::attach
