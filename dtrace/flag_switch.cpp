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

bool has(const std::vector<std::string>& flags, std::string_view name) {
  return std::find(flags.begin(), flags.end(), name) != flags.end();
}

}  // namespace

Result<std::vector<std::string>> limits_of_switching(const Libjvm& libjvm, const std::vector<std::string>& flags) {
  std::vector<std::string> lines;
  const bool once = libjvm.interpreter_decides_once();
  const std::string jdk = "JDK " + std::to_string(libjvm.feature);
  if (has(flags, "DTraceMethodProbes")) {
    if (once && !libjvm.compiles)
      return fail(ErrorCategory::kRefused,
                  "switching on method probes has no effect here: the interpreter of " + jdk +
                      " was made without them, and this JVM compiles nothing (-Xint)",
                  "start java with -XX:+DTraceMethodProbes");
    lines.push_back(once ? "method probes in " + jdk + ": only methods that are compiled from now on"
                         : "method probes: methods that are interpreted, or compiled from now on; those compiled "
                           "before stay silent");
    lines.push_back("methods that are compiled in the meantime keep their probes until they are compiled again");
  }
  if (has(flags, "DTraceAllocProbes"))
    lines.push_back(once ? "allocation probes in " + jdk + ": only allocations that leave the fast path"
                         : "allocation probes: interpreted code, and allocations that leave the fast path");
  return lines;
}

Result<FlagSwitch> FlagSwitch::take(const target::Process& process, const Libjvm& libjvm,
                                    const std::vector<std::string>& flags, bool turn_on) {
  JTRACE_ASSIGN_OR_RETURN(FlagUsers users, FlagUsers::open(libjvm, process));
  FlagSwitch made(std::move(users));
  std::vector<std::pair<std::string, Byte>> wanted;
  bool any = false;
  for (const std::string& name : flags) {
    const auto flag = libjvm.flags.find(name);
    if (flag == libjvm.flags.end() || flag->second.address == 0)
      return fail(ErrorCategory::kRefused, "this JVM has no flag " + name);
    wanted.push_back({name, {flag->second.address, made.users_.place_of(name)}});
    any |= turn_on || made.users_.has_others(wanted.back().second.place);
  }
  if (!any) return made;
  JTRACE_ASSIGN_OR_RETURN(made.memory_,
                          open_file("/proc/" + std::to_string(process.pid()) + "/mem", O_RDWR | O_CLOEXEC));
  made.users_.enter();
  Result<> taken;
  for (const auto& [name, byte] : wanted)
    if (taken) taken = made.join(byte, turn_on, name);
  // The guard must run before the first byte is changed.
  if (taken && !made.bytes_.empty()) taken = made.start_guard();
  if (taken) taken = made.write_ones();
  made.users_.leave();
  if (!taken) return fail(taken.error().with_context("flags of process " + std::to_string(process.pid())));
  return made;
}

Result<> FlagSwitch::join(const Byte& byte, bool turn_on, const std::string& name) {
  char value = 0;
  if (::pread(memory_.get(), &value, 1, static_cast<off_t>(byte.address)) != 1)
    return fail(system_error("cannot read a flag", name));
  // The flag is on, but no jtrace switched it on: the JVM was started with it.
  if (value != 0 ? !users_.has_others(byte.place) : !turn_on) return {};
  users_.join(byte.place);
  bytes_.push_back(byte);
  flags_.push_back(name);
  return {};
}

Result<> FlagSwitch::write_ones() const {
  for (const Byte& byte : bytes_) {
    const char on = 1;
    if (::pwrite(memory_.get(), &on, 1, static_cast<off_t>(byte.address)) != 1)
      return fail(system_error("cannot switch a flag on", ""));
  }
  return {};
}

// Only system calls: this runs in a child of a process that may have threads.
void FlagSwitch::put_back() const {
  users_.enter();
  for (const Byte& byte : bytes_) {
    users_.quit(byte.place);
    const char off = 0;
    if (users_.has_others(byte.place)) continue;
    while (::pwrite(memory_.get(), &off, 1, static_cast<off_t>(byte.address)) < 0 && errno == EINTR) {
    }
  }
  users_.leave();
}

Result<> FlagSwitch::start_guard() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("cannot make a pipe", ""));
  const UniqueFd read_end(ends[0]);
  gate_.reset(ends[1]);
  guard_ = ::fork();
  if (guard_ < 0) return fail(system_error("cannot start the guard of the flags", ""));
  if (guard_ > 0) return {};
  // The guard. Signals to the tool's process group must not reach it, and it must not hold a terminal or a pipe.
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
  put_back();
  ::_exit(0);
}

FlagSwitch& FlagSwitch::operator=(FlagSwitch&& other) noexcept {
  if (this == &other) return *this;
  restore();
  memory_ = std::move(other.memory_);
  users_ = std::move(other.users_);
  flags_ = std::move(other.flags_);
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
  if (!done) put_back();  // the guard was killed
  memory_.reset();
  bytes_.clear();
}

}  // namespace jtrace::dtrace
