#include "cli/screen_keys.h"

#include <poll.h>
#include <sys/epoll.h>
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

}  // namespace

ScreenKeys::ScreenKeys(int stop) : stop_(stop), both_(::epoll_create1(EPOLL_CLOEXEC)) {
  add(both_.get(), stop);
  if (!is_in_front() || ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios single = before_;
  single.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  ::tcsetattr(STDIN_FILENO, TCSANOW, &single);
  add(both_.get(), STDIN_FILENO);
  has_keys_ = true;
}

ScreenKeys::~ScreenKeys() {
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

bool ScreenKeys::is_quit() {
  if (is_readable(stop_)) return true;
  char key = 0;
  if (has_keys_ && is_readable(STDIN_FILENO) && ::read(STDIN_FILENO, &key, 1) != 1) return true;  // it is gone
  return key == 'q';
}

}  // namespace jtrace::cli
