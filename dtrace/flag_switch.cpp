#include "dtrace/flag_switch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"

namespace jtrace::dtrace {
namespace {

constexpr int kInterpreterDecidesOnce = 24;

bool has(const std::vector<std::string>& flags, std::string_view name) {
  return std::find(flags.begin(), flags.end(), name) != flags.end();
}

// System calls only: it runs in a child of a process that may have threads.
template <class Bytes>
void write_all(int memory, const Bytes& bytes, char value) {
  for (const auto& byte : bytes)
    while (::pwrite(memory, &value, 1, static_cast<off_t>(byte.address)) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<std::vector<std::string>> limits_of_switching(const Libjvm& libjvm, const std::vector<std::string>& flags) {
  std::vector<std::string> lines;
  const bool once = libjvm.feature >= kInterpreterDecidesOnce;
  const std::string jdk = "JDK " + std::to_string(libjvm.feature);
  if (has(flags, "DTraceMethodProbes")) {
    if (once && !libjvm.compiles)
      return fail(ErrorCategory::kRefused,
                  "switching on method probes has no effect here: the interpreter of " + jdk +
                      " was made without them, and this JVM compiles nothing (-Xint)",
                  "start java with -XX:+DTraceMethodProbes");
    lines.push_back(once ? "method probes in " + jdk + ": methods that are compiled from now on alone"
                         : "method probes: methods that are interpreted, or compiled from now on; those compiled "
                           "before stay silent");
    lines.push_back("methods that are compiled meanwhile keep their probes until they are compiled again");
  }
  if (has(flags, "DTraceAllocProbes"))
    lines.push_back(once ? "allocation probes in " + jdk + ": allocations that leave the fast path alone"
                         : "allocation probes: interpreted code, and allocations that leave the fast path");
  return lines;
}

Result<FlagSwitch> FlagSwitch::turn_on(const target::Process& process, const Libjvm& libjvm,
                                       const std::vector<std::string>& flags) {
  FlagSwitch made;
  for (const std::string& name : flags) {
    const auto flag = libjvm.flags.find(name);
    if (flag == libjvm.flags.end() || flag->second.address == 0)
      return fail(ErrorCategory::kRefused, "this JVM has no flag " + name);
    if (!flag->second.on) made.bytes_.push_back({flag->second.address});
  }
  JTRACE_ASSIGN_OR_RETURN(made.memory_,
                          open_file("/proc/" + std::to_string(process.pid()) + "/mem", O_RDWR | O_CLOEXEC));
  // Guarded before the first byte is changed.
  JTRACE_RETURN_IF_ERROR(made.start_guard());
  for (const Byte& byte : made.bytes_) {
    const char on = 1;
    if (::pwrite(made.memory_.get(), &on, 1, static_cast<off_t>(byte.address)) != 1)
      return fail(system_error("cannot switch a flag on in process", std::to_string(process.pid())));
  }
  return made;
}

Result<> FlagSwitch::start_guard() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("cannot make a pipe", ""));
  const UniqueFd read_end(ends[0]);
  gate_.reset(ends[1]);
  guard_ = ::fork();
  if (guard_ < 0) return fail(system_error("cannot start the guard of the flags", ""));
  if (guard_ > 0) return {};
  // The guard. A signal to our group shall not reach it, and it holds nobody's terminal or pipe.
  ::setsid();
  ::prctl(PR_SET_NAME, "jtrace-guard");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::close(ends[1]);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3 && nothing >= 0; ++fd) ::dup2(nothing, fd);
  char byte;
  while (::read(read_end.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  write_all(memory_.get(), bytes_, 0);
  ::_exit(0);
}

FlagSwitch& FlagSwitch::operator=(FlagSwitch&& other) noexcept {
  if (this == &other) return *this;
  restore();
  memory_ = std::move(other.memory_);
  bytes_ = std::exchange(other.bytes_, {});
  gate_ = std::move(other.gate_);
  guard_ = std::exchange(other.guard_, -1);
  return *this;
}

void FlagSwitch::restore() {
  if (!memory_) return;
  gate_.reset();
  int status = 0;
  const bool done = guard_ > 0 && ::waitpid(guard_, &status, 0) == guard_ && WIFEXITED(status);
  if (!done) write_all(memory_.get(), bytes_, 0);  // somebody killed the guard
  memory_.reset();
  bytes_.clear();
}

}  // namespace jtrace::dtrace
