#include "tests/testlib/own_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::test {
namespace {

// The files of a group are written by one write(2) each.
Result<> write_setting(const std::string& path, const std::string& text) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd fd, open_file(path, O_WRONLY));
  return write_whole(fd.get(), text, path);
}

std::string parent_of(const std::string& folder) { return folder.substr(0, folder.rfind('/')); }

struct Place {
  std::string root;
  int version = 0;
  std::string file;  // that a group has if the controller is on
};

}  // namespace

Result<OwnGroup> OwnGroup::make(std::string_view controller, pid_t pid) {
  const std::string name(controller);
  const std::string file = name == "memory" ? "memory.stat" : name == "cpu" ? "cpu.stat" : "pids.current";
  const std::array<Place, 2> places = {Place{"/sys/fs/cgroup/" + name, 1, file},
                                       Place{"/sys/fs/cgroup", 2, name == "cpu" ? "cpu.max" : file}};
  for (const Place& place : places) {
    const std::string folder = place.root + "/jtrace-test-" + std::to_string(pid);
    if (::mkdir(folder.c_str(), 0755) != 0) continue;
    OwnGroup group(place.version, folder);
    if (::access((folder + "/" + place.file).c_str(), F_OK) == 0 && group.add(pid)) return group;
  }
  return fail(ErrorCategory::kSystem, "no control group with the controller " + name + " can be made here");
}

OwnGroup::OwnGroup(OwnGroup&& other) noexcept
    : version_(other.version_), folder_(std::exchange(other.folder_, {})), pids_(std::move(other.pids_)) {}

OwnGroup::~OwnGroup() {
  if (folder_.empty()) return;
  for (const pid_t pid : pids_)
    (void)write_setting(parent_of(folder_) + "/cgroup.procs", std::to_string(pid));  // it may have ended
  for (int i = 0; i < 1000 && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY; ++i) ::usleep(10'000);
}

Result<> OwnGroup::add(pid_t pid) {
  pids_.push_back(pid);
  return write_setting(folder_ + "/cgroup.procs", std::to_string(pid));
}

Result<> OwnGroup::set_memory_limit(double times_used) const {
  const bool first = version_ == 1;
  const std::string used = read_setting(folder_ + (first ? "/memory.usage_in_bytes" : "/memory.current"));
  const auto bytes = static_cast<double>(parse_decimal<std::uint64_t>(used).value_or(0));
  return write_setting(folder_ + (first ? "/memory.limit_in_bytes" : "/memory.max"),
                       std::to_string(static_cast<std::uint64_t>(bytes * times_used)));
}

Result<> OwnGroup::set_processors(double count) const {
  const std::string quota = std::to_string(static_cast<int>(count * 100'000));
  if (version_ == 1) return write_setting(folder_ + "/cpu.cfs_quota_us", quota);
  return write_setting(folder_ + "/cpu.max", quota + " 100000");
}

Result<> OwnGroup::set_task_limit(int count) const {
  return write_setting(folder_ + "/pids.max", std::to_string(count));
}

Result<int> OwnGroup::tasks() const {
  const auto count = parse_decimal<int>(read_setting(folder_ + "/pids.current"));
  if (!count) return fail(ErrorCategory::kSystem, folder_ + "/pids.current has no number");
  return *count;
}

}  // namespace jtrace::test
