#include "base/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/scope_guard.h"
#include "base/unique_fd.h"

namespace jtrace {
namespace {

constexpr int kPoll = 50;  // ms: how late its end may be seen
constexpr int kNotStarted = 127;

// Between fork and exec.
[[noreturn]] void become(const std::vector<char*>& words, int output, const sigset_t& mask, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotStarted);  // it died before that
  ::setpgid(0, 0);
  // Not in the foreground any more: it must not be stopped for what it says on a terminal.
  ::signal(SIGTTOU, SIG_IGN);
  if (const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(words[0], words.data());
  ::_exit(kNotStarted);
}

int wait_for(pid_t child, int signals) {
  while (true) {
    int status = 0;
    if (const pid_t ended = ::waitpid(child, &status, WNOHANG); ended != 0)
      return ended < 0 ? kNotStarted : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    pollfd wait{.fd = signals, .events = POLLIN, .revents = 0};
    signalfd_siginfo taken{};
    if (::poll(&wait, 1, kPoll) == 1 && ::read(signals, &taken, sizeof taken) == sizeof taken)
      for (const int signal : {static_cast<int>(taken.ssi_signo), SIGCONT}) ::kill(child, signal);
  }
}

}  // namespace

Result<int> run_child_program(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  sigset_t passed, before;
  ::sigemptyset(&passed);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&passed, signal);
  ::sigprocmask(SIG_BLOCK, &passed, &before);
  const ScopeGuard restore([&] { ::sigprocmask(SIG_SETMASK, &before, nullptr); });
  const UniqueFd signals(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  std::fflush(stdout);
  const pid_t self = ::getpid(), child = ::fork();
  if (child < 0) return fail(system_error("cannot start", words[0]));
  if (child > 0) ::setpgid(child, child);  // both do it: whoever comes first
  if (child == 0) become(arguments, output, before, self);
  const int status = wait_for(child, signals.get());
  if (status == kNotStarted) return fail(ErrorCategory::kSystem, "cannot start " + words[0]);
  return status;
}

}  // namespace jtrace
