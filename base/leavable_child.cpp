#include "base/leavable_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "base/wait_readable.h"

namespace jtrace {
namespace {

constexpr int kPassed[] = {SIGINT, SIGTERM, SIGHUP};
constexpr std::uint64_t kToEnd = kNanosPerSecond / 2;         // for a child that has done its job, or was killed
constexpr std::uint64_t kAfterSignal = 10 * kNanosPerSecond;  // until it is killed

bool is_ignored(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

// kPassed are blocked while it lives.
class PassedSignals {
 public:
  PassedSignals() {
    ::sigemptyset(&set_);
    for (const int signal : kPassed) ::sigaddset(&set_, signal);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    fd_.reset(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;
  ~PassedSignals() { restore(); }
  void restore() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  int fd() const { return fd_.get(); }
  int take() const {
    signalfd_siginfo taken{};
    return ::read(fd_.get(), &taken, sizeof taken) == sizeof taken ? static_cast<int>(taken.ssi_signo) : 0;
  }

 private:
  sigset_t set_{}, before_{};
  UniqueFd fd_;
};

// A reader of this program's output must not wait for a process that does not end.
void close_output() {
  const UniqueFd nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.get(), fd);
}

[[noreturn]] void run_child(const std::function<ExitStatus()>& job, int result) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto status = static_cast<unsigned char>(job());
  std::fflush(stdout);
  close_output();
  [[maybe_unused]] const ssize_t written = ::write(result, &status, 1);
  ::_exit(status);  // a thread that is left may still use what the normal end of the program destroys
}

class Parent {
 public:
  Parent(pid_t child, UniqueFd result, const PassedSignals& signals)
      : child_(child), result_(std::move(result)), signals_(signals) {}

  ChildEnd wait() {
    ChildEnd end;
    if (const auto status = read_status()) end.status = *status;
    int status = 0;
    if (!has_ended(status)) end.left_behind = child_;
    else if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    return end;
  }

 private:
  // Nothing if the child has died, or does not end although it was killed.
  std::optional<ExitStatus> read_status() {
    std::uint64_t until = 0;  // when it is killed; 0: not
    for (bool killed = false;;) {
      pollfd waits[] = {{result_.get(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
      ::poll(waits, 2, until == 0 ? -1 : 50);
      if (const int signal = waits[1].revents != 0 ? signals_.take() : 0; signal != 0) {
        ::kill(child_, signal);
        // One that is ignored (by nohup) may have no effect on the child either.
        if (!is_ignored(signal)) until = until == 0 ? monotonic_ns() + kAfterSignal : monotonic_ns();
      }
      unsigned char status = 0;
      if (waits[0].revents != 0)
        return ::read(result_.get(), &status, 1) == 1 ? std::optional(static_cast<ExitStatus>(status)) : std::nullopt;
      if (until == 0 || monotonic_ns() < until) continue;
      if (killed) return std::nullopt;
      ::kill(child_, SIGKILL);
      killed = true;
      until = monotonic_ns() + kToEnd;
    }
  }
  bool has_ended(int& status) const {
    for (const std::uint64_t until = monotonic_ns() + kToEnd; ::waitpid(child_, &status, WNOHANG) != child_;) {
      if (monotonic_ns() > until) return false;
      wait_readable(-1, monotonic_ns() + 1'000'000);
    }
    return true;
  }

  pid_t child_;
  UniqueFd result_;
  const PassedSignals& signals_;
};

}  // namespace

Result<ChildEnd> run_in_leavable_child(const std::function<ExitStatus()>& job) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("cannot make a pipe"));
  UniqueFd result(ends[0]), theirs(ends[1]);
  const PassedSignals signals;
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error("cannot start a process"));
  if (child == 0) {
    signals.restore();
    result.reset();
    run_child(job, theirs.get());
  }
  theirs.reset();
  return Parent(child, std::move(result), signals).wait();
}

}  // namespace jtrace
