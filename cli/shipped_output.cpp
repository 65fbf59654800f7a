#include "cli/shipped_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/log.h"
#include "base/unique_fd.h"
#include "cli/fleet_arguments.h"
#include "cli/fleet_program.h"
#include "cli/stop_signals.h"

namespace jtrace::cli {
namespace {

constexpr int kPipeBytes = 1 << 20;  // what is written while the sender has no processor; as much as a user may have
constexpr int kPoll = 50;            // ms

// In a process group of its own: Ctrl-C ends the trace, and the sender reads that trace to its end. Nothing that this
// command blocks or ignores is blocked or ignored there.
Result<pid_t> spawn(const std::string& program, const std::string& url, int input) {
  std::vector<const char*> words = {kFleetProgram, "ship", "-", url.c_str()};
  if (log_level() < LogLevel::kInfo) words.push_back("-q");
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program.c_str(), &actions, &attributes, const_cast<char* const*>(words.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return fail(system_error(failed, "cannot start", program));
  return child;
}

}  // namespace

CLI::Option* add_ship_option(CLI::App& command, std::string& url) {
  return command
      .add_option("--ship", url,
                  "send the trace to a NATS server while it is written, as jtrace ship does; its options come from the "
                  "environment (docs/fleet.md)")
      ->type_name("URL")
      ->check(wrong_broker);
}

Error ships_instead_of_output(const std::string& option) {
  return {.category = ErrorCategory::kUsage,
          .text = option + " and --ship exclude each other",
          .help = "the trace is sent, and what cannot be sent is in the spool"};
}

Result<std::unique_ptr<ShippedOutput>> ShippedOutput::start(const std::string& url) {
  if (url.empty()) return std::unique_ptr<ShippedOutput>();
  JTRACE_ASSIGN_OR_RETURN(const std::string program, fleet_program());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("cannot make", "a pipe"));
  const UniqueFd input(ends[0]), output(ends[1]);
  (void)::fcntl(output.get(), F_SETPIPE_SZ, kPipeBytes);
  JTRACE_ASSIGN_OR_RETURN(const pid_t sender, spawn(program, url, input.get()));
  std::unique_ptr<ShippedOutput> shipped(new ShippedOutput(sender));
  ::signal(SIGPIPE, SIG_IGN);
  if (::dup2(output.get(), STDOUT_FILENO) < 0) return fail(system_error("cannot redirect", "standard output"));
  return shipped;
}

ShippedOutput::~ShippedOutput() {
  if (sender_ == 0) return;
  close_output();
  (void)wait_for_sender();
}

// Something stays open there: no other file becomes the standard output.
void ShippedOutput::close_output() {
  const UniqueFd nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nothing || ::dup2(nothing.get(), STDOUT_FILENO) < 0) ::close(STDOUT_FILENO);
}

// The first signal only says that the input ends: the second makes it leave the rest.
void ShippedOutput::stop_sender() {
  ::kill(sender_, SIGINT);
  ::kill(sender_, SIGTERM);
}

ExitStatus ShippedOutput::wait_for_sender() {
  const auto stop = stop_signals();
  int status = 0;
  for (pid_t ended = 0; ended != sender_; ended = ::waitpid(sender_, &status, WNOHANG)) {
    if (ended < 0 && errno != EINTR) break;
    pollfd signal{stop ? stop->get() : -1, POLLIN, 0};
    if (::poll(&signal, 1, kPoll) <= 0) continue;
    signalfd_siginfo info{};
    (void)!::read(signal.fd, &info, sizeof info);
    stop_sender();
  }
  sender_ = 0;
  return WIFEXITED(status) ? static_cast<ExitStatus>(WEXITSTATUS(status)) : ExitStatus::kPartial;
}

ExitStatus ShippedOutput::finish(ExitStatus written) {
  close_output();
  const ExitStatus sent = wait_for_sender();
  return written == ExitStatus::kOk || (written == ExitStatus::kPartial && sent != ExitStatus::kOk) ? sent : written;
}

ExitStatus ShippedOutput::abandon(ExitStatus failed) {
  stop_sender();
  close_output();
  (void)wait_for_sender();
  return failed;
}

ExitStatus finish_shipping(const std::unique_ptr<ShippedOutput>& shipped, ExitStatus written) {
  return shipped ? shipped->finish(written) : written;
}
ExitStatus abandon_shipping(const std::unique_ptr<ShippedOutput>& shipped, ExitStatus failed) {
  return shipped ? shipped->abandon(failed) : failed;
}

}  // namespace jtrace::cli
