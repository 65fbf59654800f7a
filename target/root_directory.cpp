#include "target/root_directory.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <deque>
#include <vector>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::target {
namespace {

constexpr int kMaxLinks = 40;  // MAXSYMLINKS, include/linux/namei.h

int openat2(int root, const std::string& path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    // EAGAIN: something was renamed while ".." was resolved (openat2(2)).
    if (fd >= 0 || errno != EAGAIN || attempt == 16) return static_cast<int>(fd);
  }
}

void push_components(std::deque<std::string>& rest, std::string_view path) {
  std::vector<std::string> parts;
  for (std::string_view part : split(path, '/'))
    if (!part.empty() && part != ".") parts.emplace_back(part);
  rest.insert(rest.begin(), parts.begin(), parts.end());
}

// A walk below a root. It keeps the descriptors of the directories that it passed, so that ".." is resolved without the
// kernel.
class Walk {
 public:
  Walk(int root, std::string_view path) : root_(root), path_(path) { push_components(rest_, path); }

  Result<UniqueFd> open(int flags, unsigned mode) {
    while (!rest_.empty()) {
      const std::string part = std::move(rest_.front());
      rest_.pop_front();
      if (part == "..") {
        if (!directories_.empty()) directories_.pop_back();
        continue;
      }
      JTRACE_ASSIGN_OR_RETURN(UniqueFd found, step(part, flags, mode));
      if (found) return found;
    }
    return open_file_at(here(), ".", flags & ~O_CREAT, 0);
  }

 private:
  int here() const { return directories_.empty() ? root_ : directories_.back().get(); }

  // Handles one component: enters a directory, follows a link, or returns the opened last component.
  Result<UniqueFd> step(const std::string& part, int flags, unsigned mode) {
    UniqueFd node(::openat(here(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!node) {
      if (errno == ENOENT && rest_.empty() && (flags & O_CREAT) != 0) return open_last(part, flags, mode);
      return fail(system_error("cannot open", path_));
    }
    struct stat facts {};
    if (::fstat(node.get(), &facts) != 0) return fail(system_error("cannot look at", path_));
    const bool keep_link =
        rest_.empty() && ((flags & O_NOFOLLOW) != 0 || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL));
    if (S_ISLNK(facts.st_mode) && !keep_link) {
      JTRACE_RETURN_IF_ERROR(follow(node.get()));
      return UniqueFd();
    }
    if (rest_.empty()) return open_last(part, flags, mode);
    directories_.push_back(std::move(node));
    return UniqueFd();
  }

  Result<UniqueFd> open_last(const std::string& part, int flags, unsigned mode) {
    UniqueFd fd(::openat(here(), part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!fd) return fail(system_error("cannot open", path_));
    return fd;
  }

  Result<> follow(int link) {
    char text[PATH_MAX];
    const ssize_t size = ::readlinkat(link, "", text, sizeof text);
    if (size < 0) return fail(system_error("cannot read the link", path_));
    if (++links_ > kMaxLinks) return fail(system_error(ELOOP, "cannot open", path_));
    if (size > 0 && text[0] == '/') directories_.clear();
    push_components(rest_, std::string_view(text, static_cast<std::size_t>(size)));
    return {};
  }

  int root_;
  std::string path_;
  std::deque<std::string> rest_;
  std::vector<UniqueFd> directories_;
  int links_ = 0;
};

}  // namespace

Result<UniqueFd> open_in_root_by_components(int root, std::string_view path, int flags, unsigned mode) {
  return Walk(root, path).open(flags, mode);
}

Result<UniqueFd> open_in_root(int root, std::string_view path, int flags, unsigned mode) {
  const std::string text(path);
  UniqueFd fd(openat2(root, text, flags, mode));
  if (fd) return fd;
  // A seccomp filter that does not know openat2 gives EPERM. A real EPERM is returned by the fallback as well.
  if (errno == ENOSYS || errno == EPERM) return open_in_root_by_components(root, path, flags, mode);
  return fail(system_error("cannot open", text));
}

}  // namespace jtrace::target
