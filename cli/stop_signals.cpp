#include "cli/stop_signals.h"

#include <signal.h>
#include <sys/signalfd.h>

namespace jtrace::cli {

Result<UniqueFd> stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return fail(system_error("cannot block signals"));
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(system_error("cannot open a signalfd"));
  return fd;
}

}  // namespace jtrace::cli
