#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "diagnose/collectors.h"

namespace jtrace::diagnose {
namespace {

std::optional<DiskFact> disk_of(const UniqueFd& folder, std::string path, std::string use) {
  struct statvfs found {};
  struct stat status {};
  if (!folder || ::fstatvfs(folder.get(), &found) != 0 || ::fstat(folder.get(), &status) != 0 || found.f_blocks == 0)
    return std::nullopt;
  if ((found.f_flag & ST_RDONLY) != 0) return std::nullopt;  // an image is always full
  return DiskFact{.path = std::move(path),
                  .use = std::move(use),
                  .device = status.st_dev,
                  .free = static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize,
                  .size = static_cast<std::uint64_t>(found.f_blocks) * found.f_frsize};
}

}  // namespace

// HotSpot writes its counters and the socket of attaching into /tmp, whatever java.io.tmpdir is
// (os::get_temp_directory), and heap dumps, hs_err and core files into the working folder.
Result<Publish> DiskCollector::look() {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid_));
  std::vector<DiskFact> disks;
  bool opened = false;
  const auto add = [&](Result<UniqueFd> folder, std::string path, const std::string& use) {
    if (!folder) return;
    opened = true;
    auto disk = disk_of(*folder, std::move(path), use);
    if (!disk) return;
    if (!disks.empty() && disks.front().device == disk->device) disks.front().use += ", " + use;
    else disks.push_back(std::move(*disk));
  };
  add(process.open_in_root("/tmp", O_PATH | O_DIRECTORY), "/tmp", "counters, attaching, temporary files");
  add(process.open_cwd(), "its working folder", "heap dumps, crash reports");
  if (!opened) return fail(ErrorCategory::kSystem, "neither /tmp nor the working folder of the process can be opened");
  return [disks](Collected& collected) { collected.facts.disks = disks; };
}

}  // namespace jtrace::diagnose
