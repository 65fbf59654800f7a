#include "tests/testlib/require.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace jtrace::test {

bool required(std::string_view capability) {
  const char* list = std::getenv("JTRACE_REQUIRE");
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (rest.substr(0, comma) == capability) return true;
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return false;
}

std::string why_no_ptrace() {
  if (::geteuid() == 0) return {};
  return "not root: other processes' memory may be closed to this user";
}

std::string why_no_namespaces() {
  // Tried in a child, so that this process keeps its own namespace.
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return "fork failed";
  return status == 0 ? "" : "unshare(CLONE_NEWNS) is not permitted here";
}

}  // namespace jtrace::test
