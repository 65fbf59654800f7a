// A terminal's mode while a program that reads single keys is stopped, continued in the background and ended there.
#include "cli/screen_keys.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jtrace::cli {
namespace {

constexpr int kSoon = 30'000;  // ms: a busy machine

// Ends with 0 by a byte in `stop`, or the key q.
[[noreturn]] void be_program(int stop) {
  ::setpgid(0, 0);
  while (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) ::usleep(1000);
  {
    ScreenKeys keys(stop);
    do {
      pollfd polled{.fd = keys.fd(), .events = POLLIN, .revents = 0};
      ::poll(&polled, 1, -1);
    } while (!keys.is_quit());
  }
  ::_exit(0);
}

bool echoes(bool wanted) {
  for (int waited = 0; waited < kSoon; ++waited) {
    termios mode{};
    if (::tcgetattr(STDIN_FILENO, &mode) != 0) return !wanted;
    if (((mode.c_lflag & ECHO) != 0) == wanted) return true;
    ::usleep(1000);
  }
  return false;
}

// As a shell does it; the number of the step that failed, 0: none.
int be_shell() {
  ::signal(SIGTTOU, SIG_IGN);
  int stop[2];
  if (::pipe(stop) != 0) return 1;
  const pid_t program = ::fork();
  if (program == 0) {
    ::signal(SIGTTOU, SIG_DFL);
    be_program(stop[0]);
  }
  ::setpgid(program, program);
  ::tcsetpgrp(STDIN_FILENO, program);
  if (!echoes(false)) return 2;
  int status = 0;
  ::kill(program, SIGTSTP);
  if (::waitpid(program, &status, WUNTRACED) != program || !WIFSTOPPED(status)) return 3;
  if (!echoes(true)) return 4;
  ::kill(program, SIGCONT);  // fg
  if (!echoes(false)) return 5;
  ::kill(program, SIGTSTP);
  if (::waitpid(program, &status, WUNTRACED) != program || !WIFSTOPPED(status)) return 6;
  ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  ::kill(program, SIGCONT);  // bg
  if (::write(stop[1], "", 1) != 1) return 7;
  if (::waitpid(program, &status, WUNTRACED) != program) return 8;
  if (!WIFEXITED(status)) return 9;  // stopped, because it changed the terminal
  return echoes(true) ? 0 : 10;
}

TEST(ScreenKeys, LeaveTheTerminalAloneInTheBackground) {
  int master = -1;
  const pid_t shell = ::forkpty(&master, nullptr, nullptr, nullptr);
  ASSERT_GE(shell, 0);
  if (shell == 0) {
    ::alarm(kSoon / 250);
    ::_exit(be_shell());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(shell, &status, 0), shell);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
  ::close(master);
}

}  // namespace
}  // namespace jtrace::cli
