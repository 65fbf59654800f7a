#include "tests/testlib/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "tests/testlib/child_words.h"
#include "tests/testlib/places.h"

namespace jtrace::test {
namespace {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("making a pipe"));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Appends the available bytes; closes the descriptor at its end.
void drain(UniqueFd& fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) fd.reset();
}

void feed(UniqueFd& fd, std::string_view& rest) {
  const ssize_t count = rest.empty() ? 0 : ::write(fd.get(), rest.data(), rest.size());
  if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  if (rest.empty() || (count < 0 && errno != EINTR && errno != EAGAIN)) fd.reset();
}

// Until both outputs are closed or the deadline (monotonic ns) has passed; false at the deadline.
bool exchange(UniqueFd& in, UniqueFd& out, UniqueFd& err, std::string_view input, CommandOutput& result,
              std::uint64_t deadline) {
  ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  while (out || err) {
    const std::uint64_t now = monotonic_ns();
    if (now >= deadline) return false;
    pollfd fds[3] = {{in.get(), POLLOUT, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    ::poll(fds, 3, static_cast<int>((deadline - now) / 1'000'000 + 1));
    if (fds[0].revents != 0) feed(in, input);
    if (fds[1].revents != 0) drain(out, result.out);
    if (fds[2].revents != 0) drain(err, result.err);
  }
  return true;
}

std::chrono::nanoseconds nanos(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

Result<CommandOutput> run_command(const std::vector<std::string>& argv, const CommandOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(Pipe in, make_pipe());
  JTRACE_ASSIGN_OR_RETURN(Pipe out, make_pipe());
  JTRACE_ASSIGN_OR_RETURN(Pipe err, make_pipe());
  JTRACE_ASSIGN_OR_RETURN(Pipe exec_errno, make_pipe());
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = environment_with(options.environment);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const std::uint64_t start = monotonic_ns();
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error("forking for " + argv[0]));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(in.read.get(), 0);
    ::dup2(out.write.get(), 1);
    ::dup2(err.write.get(), 2);
    ::signal(SIGPIPE, SIG_DFL);
    if (options.in_child) options.in_child();
    if (options.directory.empty() || ::chdir(options.directory.c_str()) == 0)
      ::execvpe(arguments[0], arguments.data(), environment.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t count = ::write(exec_errno.write.get(), &error, sizeof error);
    ::_exit(127);
  }
  in.read.reset();
  out.write.reset();
  err.write.reset();
  exec_errno.write.reset();
  int error = 0;
  if (::read(exec_errno.read.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(child, nullptr, 0);
    return fail(system_error(error, "running a command", argv[0]));
  }
  if (options.once_started) options.once_started(child);

  // If the reader is gone, write() must fail, and the test must not end.
  ::signal(SIGPIPE, SIG_IGN);
  CommandOutput result;
  const auto limit = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.timeout).count());
  result.timed_out = !exchange(in.write, out.read, err.read, options.input, result, start + limit);
  if (result.timed_out) ::kill(child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.elapsed = std::chrono::nanoseconds(monotonic_ns() - start);
  result.cpu = nanos(usage.ru_utime) + nanos(usage.ru_stime);
  result.peak_kib = static_cast<std::uint64_t>(usage.ru_maxrss);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string jtrace_binary() {
  const char* chosen = std::getenv("JTRACE_TEST_BINARY");
  return chosen != nullptr ? chosen : tools_folder() + "/jtrace";
}

Result<CommandOutput> run_jtrace(const std::vector<std::string>& arguments, const CommandOptions& options) {
  std::vector<std::string> argv{jtrace_binary()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_command(argv, options);
}

}  // namespace jtrace::test
