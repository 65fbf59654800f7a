#include "base/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace jtrace {
namespace {

constexpr std::time_t kSafeAge = 60;  // seconds; a file is marked in use right after it was made

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::vector<std::string> names_in(int folder, std::string_view prefix) {
  std::vector<std::string> names;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, CloseFolder> entries(::fdopendir(copy));
  if (!entries) {
    ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(prefix)) names.emplace_back(name);
  }
  return names;
}

bool is_old(const struct stat& facts) { return ::time(nullptr) - facts.st_mtime > kSafeAge; }

// `fd` is open on `name`, and not in use.
bool remove_entry(int folder, const std::string& name, int fd, bool is_folder) {
  if (!is_folder) return ::unlinkat(folder, name.c_str(), 0) == 0;
  for (const std::string& inner : names_in(fd, "")) ::unlinkat(fd, inner.c_str(), 0);
  return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0;
}

bool remove_if_left(int folder, const std::string& name) {
  struct stat facts {};
  if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const bool is_folder = S_ISDIR(facts.st_mode);
  if ((!is_folder && !S_ISREG(facts.st_mode)) || facts.st_uid != ::geteuid() || !is_old(facts)) return false;
  const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return false;
  return remove_entry(folder, name, fd.get(), is_folder);
}

}  // namespace

void mark_in_use(int fd) { (void)::flock(fd, LOCK_EX | LOCK_NB); }

std::size_t remove_leftovers(int folder, std::string_view prefix) {
  std::size_t removed = 0;
  for (const std::string& name : names_in(folder, prefix)) removed += remove_if_left(folder, name) ? 1 : 0;
  return removed;
}

}  // namespace jtrace
