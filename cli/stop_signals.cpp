#include "cli/stop_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

namespace jtrace::cli {
namespace {

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t stop_set() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kStopSignals) ::sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void give_back_stop_signals(const sigset_t& before) {
  const sigset_t signals = stop_set();
  const timespec now{};
  while (::sigtimedwait(&signals, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void outlive_stop_signals(const sigset_t& before) {
  for (const int signal : kStopSignals) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_DFL) continue;  // for example by nohup
    now.sa_handler = [](int) {};
    now.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &now, nullptr);
  }
  give_back_stop_signals(before);
}

Result<UniqueFd> stop_signals() {
  const sigset_t signals = stop_set();
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return fail(system_error("cannot block signals"));
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(system_error("cannot open a signalfd"));
  return fd;
}

ScopedCancel::ScopedCancel() {
  const sigset_t signals = stop_set();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  fd_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

ScopedCancel::~ScopedCancel() {
  fd_.reset();
  if (!has_let_go_) outlive_stop_signals(before_);
}

void ScopedCancel::let_go() {
  fd_.reset();
  give_back_stop_signals(before_);
  has_let_go_ = true;
}

}  // namespace jtrace::cli
