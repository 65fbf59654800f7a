#include "tests/testlib/background_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/testlib/child_words.h"

namespace jtrace::test {

Result<std::unique_ptr<BackgroundCommand>> BackgroundCommand::start(const std::vector<std::string>& argv,
                                                                    const CommandOptions& options) {
  std::unique_ptr<BackgroundCommand> command(new BackgroundCommand);
  command->argv_ = argv;
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = environment_with(options.environment);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return fail(system_error("making pipes"));
  UniqueFd our_out(out[0]);
  UniqueFd our_err(err[0]);
  const UniqueFd child_out(out[1]);
  const UniqueFd child_err(err[1]);
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  command->pid_ = ::fork();
  if (command->pid_ < 0) return fail(system_error("forking for " + argv[0]));
  if (command->pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(nothing.get(), 0);
    ::dup2(child_out.get(), 1);
    ::dup2(child_err.get(), 2);
    ::signal(SIGPIPE, SIG_DFL);
    if (options.in_child) options.in_child();
    if (options.directory.empty() || ::chdir(options.directory.c_str()) == 0)
      ::execvpe(arguments[0], arguments.data(), environment.data());
    ::_exit(127);
  }
  command->pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, command->pid_, 0)));
  command->out_ = std::make_unique<LineCollector>(std::move(our_out));
  command->err_ = std::make_unique<LineCollector>(std::move(our_err));
  return command;
}

BackgroundCommand::~BackgroundCommand() {
  if (pid_ <= 0 || ended_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool BackgroundCommand::alive() const {
  pollfd fd{pidfd_.get(), POLLIN, 0};
  return !ended_ && ::poll(&fd, 1, 0) == 0;
}

void BackgroundCommand::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

Result<int> BackgroundCommand::wait_exit(std::chrono::milliseconds timeout) {
  if (ended_) return status_;
  pollfd fd{pidfd_.get(), POLLIN, 0};
  if (::poll(&fd, 1, static_cast<int>(timeout.count())) <= 0)
    return fail(ErrorCategory::kTimeout, "waiting for the end of " + argv_[0] + "; stderr: " + err());
  int status = 0;
  if (::waitpid(pid_, &status, 0) < 0) return fail(system_error("waiting for " + argv_[0]));
  ended_ = true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // Its last output may still be in the pipes.
  for (LineCollector* pipe : {out_.get(), err_.get()}) pipe->wait_end(std::chrono::seconds(2));
  return status_;
}

}  // namespace jtrace::test
