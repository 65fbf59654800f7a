#include "base/child_jobs.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace jtrace {
namespace {

constexpr int kInterval = 50;  // ms between two checks of the children

Result<std::vector<pid_t>> start_children(std::size_t count, const std::function<ExitStatus(std::size_t)>& job) {
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return fail(system_error("cannot start a process for a target"));
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const ExitStatus status = job(i);
    std::fflush(stdout);
    ::_exit(static_cast<int>(status));
  }
  return children;
}

}  // namespace

Result<std::vector<ExitStatus>> run_in_children(std::size_t count, const std::function<ExitStatus(std::size_t)>& job,
                                                int cancel_fd) {
  JTRACE_ASSIGN_OR_RETURN(auto children, start_children(count, job));
  std::vector<ExitStatus> statuses;
  while (!children.empty()) {
    pollfd wait{cancel_fd, POLLIN, 0};
    if (::poll(&wait, 1, kInterval) > 0) {
      signalfd_siginfo taken{};
      [[maybe_unused]] const ssize_t size = ::read(cancel_fd, &taken, sizeof taken);
      for (const pid_t child : children) ::kill(child, SIGINT);
    }
    std::erase_if(children, [&](pid_t child) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) != child) return false;
      statuses.push_back(WIFEXITED(status) ? static_cast<ExitStatus>(WEXITSTATUS(status)) : ExitStatus::kRefused);
      return true;
    });
  }
  return statuses;
}

}  // namespace jtrace
