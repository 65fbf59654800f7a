#include "cli/screen_keys.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace jtrace::cli {
namespace {

bool is_readable(int fd) {
  pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, 0) > 0;
}

void add(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

// To change the terminal from the background would stop the program (SIGTTOU).
bool is_in_front() { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

sigset_t set_of(int first, int second) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, first);
  ::sigaddset(&signals, second);
  return signals;
}

}  // namespace

ScreenKeys::ScreenKeys(int stop) : stop_(stop), both_(::epoll_create1(EPOLL_CLOEXEC)) {
  const sigset_t signals = set_of(SIGTSTP, SIGCONT);
  ::pthread_sigmask(SIG_BLOCK, &signals, &mask_before_);
  job_signals_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  add(both_.get(), stop);
  add(both_.get(), job_signals_.get());
  take_keys();
}

ScreenKeys::~ScreenKeys() {
  drop_keys();
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

// The mode before is read when it is first in the foreground: until then the terminal has that of another program, and
// after a stop the shell may give back the mode that was set here.
void ScreenKeys::take_keys() {
  if (!is_in_front()) return;
  if (!knows_before_ && ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  knows_before_ = true;
  termios single = before_;
  single.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  single.c_cc[VMIN] = 1;
  single.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &single);
  if (!has_keys_) add(both_.get(), STDIN_FILENO);
  has_keys_ = true;
}

void ScreenKeys::drop_keys() {
  if (!has_keys_) return;
  has_keys_ = false;
  ::epoll_ctl(both_.get(), EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
  if (is_in_front()) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

// By the signal's own action, which does nothing where no shell could continue the process.
void ScreenKeys::stop_process() {
  const sigset_t stopping = set_of(SIGTSTP, SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stopping, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &stopping, nullptr);
}

void ScreenKeys::handle_job_signals() {
  signalfd_siginfo signal{};
  while (::read(job_signals_.get(), &signal, sizeof signal) == sizeof signal) {
    drop_keys();
    if (signal.ssi_signo == SIGTSTP) stop_process();
    take_keys();
  }
}

bool ScreenKeys::is_quit() {
  if (is_readable(stop_)) return true;
  handle_job_signals();
  if (has_keys_ && !is_in_front()) drop_keys();  // to read would stop the program
  char key = 0;
  if (has_keys_ && is_readable(STDIN_FILENO) && ::read(STDIN_FILENO, &key, 1) != 1) return true;  // it is gone
  return key == 'q';
}

}  // namespace jtrace::cli
