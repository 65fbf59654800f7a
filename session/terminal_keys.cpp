#include "session/terminal_keys.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace jtrace::session {
namespace {

// For the crash handler, which may use nothing else.
termios g_before;
volatile sig_atomic_t g_changed = 0;

constexpr int kCrashes[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL};

// With SA_RESETHAND the signal's own action follows.
void restore_in_crash(int signal) {
  if (g_changed != 0) ::tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
  ::raise(signal);
}

}  // namespace

TerminalKeys::TerminalKeys() {
  there_ = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (!there_) return;
  g_before = before_;
  struct sigaction action {};
  action.sa_handler = restore_in_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
  take_keys();
}

TerminalKeys::~TerminalKeys() {
  if (g_changed == 0) return;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  g_changed = 0;
}

bool TerminalKeys::foreground() const { return there_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

void TerminalKeys::set(bool keys) {
  keys_ = keys;
  if (!foreground()) return;
  termios mode = before_;
  if (keys) {
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
  }
  g_changed = 1;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

std::string TerminalKeys::read() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (!foreground() || ::poll(&input, 1, 0) <= 0) return {};
  char typed[256];
  const ssize_t count = ::read(STDIN_FILENO, typed, sizeof typed);
  if (count <= 0) there_ = false;
  return {typed, static_cast<std::size_t>(count > 0 ? count : 0)};
}

void TerminalKeys::stop() {
  const bool keys = keys_;
  take_lines();
  ::kill(::getpid(), SIGSTOP);
  set(keys);  // if the process is in the background now, SIGCONT comes again when that changes
}

}  // namespace jtrace::session
