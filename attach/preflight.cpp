#include "attach/preflight.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "attach/freezer.h"
#include "base/strings.h"
#include "target/java_command.h"

namespace jtrace::attach {
namespace {

constexpr std::chrono::seconds kYoung{5};  // a JVM installs its handlers within its first second
// wait for an older JVM without a handler: it may have been created late in a program's life
constexpr std::chrono::milliseconds kGrace{500};

std::string who(const target::Process& process) {
  return "process " + std::to_string(process.pid()) + " (" + process.comm() + ")";
}

std::chrono::nanoseconds age_of(const target::Process& process) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto boot = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const auto ticks = process.start_ticks();
  return boot - std::chrono::seconds(ticks / per_second) -
         std::chrono::nanoseconds(ticks % per_second * (1'000'000'000 / per_second));
}

// A java launcher that has not mapped its libjvm.so yet.
bool may_become_jvm(const target::Process& process) {
  if (process.cmdline().empty() || age_of(process) > kYoung) return false;
  const std::string& program = process.cmdline().front();
  return program.substr(program.rfind('/') + 1) == "java" || process.comm() == "java";
}

Error exited(const target::Process& process) {
  return Error{.category = ErrorCategory::kNotFound, .text = who(process) + " has exited"};
}

Error disabled(const target::Process& process, std::string_view how) {
  Error error{.category = ErrorCategory::kNotAttachable};
  error.text = "attach is disabled in this JVM (" + std::string(how) + "): " + who(process) + "; no signal sent";
  error.help = "start it without -XX:+DisableAttachMechanism; jtrace stack " + std::to_string(process.pid()) +
               " needs no cooperation";
  return error;
}

Error signals_reduced(const target::Process& process, std::string_view why) {
  Error error{.category = ErrorCategory::kNotAttachable};
  error.text = "SIGQUIT is not caught (" + std::string(why) +
               ") and there is no attach socket, which may have been deleted: cannot attach to " + who(process) +
               "; no signal sent";
  error.help = "jtrace stack " + std::to_string(process.pid()) + " needs no cooperation";
  return error;
}

Error not_live(const target::Process& process) {
  Error error{.category = ErrorCategory::kNotAttachable};
  error.text = who(process) + " is starting and runs no Java code yet: an agent may hold it up; no signal sent";
  error.help = "try again later; jtrace stack " + std::to_string(process.pid()) + " needs no cooperation";
  return error;
}

Error frozen(const target::Process& process) {
  Error error{.category = ErrorCategory::kNotAttachable};
  error.text = who(process) + " is frozen by its control group; no signal sent";
  error.help = "thaw it (docker unpause, systemctl thaw)";
  return error;
}

void append_words(std::vector<std::string>& words, std::string_view text) {
  for (std::string_view word : split(text, ' '))
    if (!trimmed(word).empty()) words.emplace_back(trimmed(word));
}

// True if the JVM reports that it does not accept attaching.
Result<> check_enabled(const target::Process& process, const target::Jvm& jvm) {
  const auto enabled = jvm.attach_enabled();
  if (enabled == false) return fail(disabled(process, "its hsperfdata says so"));
  if (!enabled && options_of(process, &jvm).flag("DisableAttachMechanism", false))
    return fail(disabled(process, "-XX:+DisableAttachMechanism"));
  return {};
}

// True if the JVM's thread that handles signals runs. Its handler of SIGQUIT is installed long before, while agents are
// being loaded. A signal sent at that time waits; if the trigger file is gone when it is handled, the JVM prints a
// thread dump. Since some update of JDK 8, threads have kernel names from the JVM. If all threads have the same name,
// they are counted: before that thread there are the launcher's and the main thread.
bool looks_at_signals(const target::Process& process) {
  constexpr std::size_t kEnoughThreads = 5;
  const auto threads = process.threads();
  if (!threads) return true;
  bool named = false;
  for (const pid_t thread : *threads) {
    const auto name = process.read_proc("task/" + std::to_string(thread) + "/comm");
    if (!name) continue;
    // "Signal Dispatcher" (os.cpp, initialize_jdk_signal_support), truncated by the kernel; from JDK 27 on in its
    // middle.
    if (name->starts_with("Signal ")) return true;
    named |= trimmed(*name) != process.comm();
  }
  return !named && threads->size() >= kEnoughThreads;
}

bool signals_are_reduced(const target::Process& process, const target::Jvm& jvm) {
  const JvmOptions options = options_of(process, &jvm);
  return options.has("-Xrs") || options.flag("ReduceSignalUsage", false);
}

// A JVM that cannot be examined is not signalled either.
Error unseen(const Error& error) {
  const bool denied = error.errnum == EACCES || error.errnum == EPERM;
  const std::string help =
      error.help.empty() && denied ? "run as its user, as root or with CAP_SYS_PTRACE" : error.help;
  return error.with_help("no signal sent" + (help.empty() ? "" : "; " + help));
}

// The mount of a directory and its inode: an equal pair is the same directory in the same mount namespace. Kernels
// before 5.8 do not give the mount.
struct Place {
  std::uint64_t mount = 0, device = 0, inode = 0;
  bool operator==(const Place&) const = default;
};

std::optional<Place> place_of(int directory, const char* path) {
  struct statx facts {};
  if (::statx(directory, path, AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &facts) != 0) return std::nullopt;
  return Place{.mount = (facts.stx_mask & STATX_MNT_ID) != 0 ? facts.stx_mnt_id : 0,
               .device = std::uint64_t{facts.stx_dev_major} << 32 | facts.stx_dev_minor,
               .inode = facts.stx_ino};
}

// A process that was opened before its exec may have got its root directory and its user since then, as the first
// process of a container does. The trigger file would be made where the JVM does not look, and SIGQUIT would print a
// thread dump.
Result<> check_as_opened(const target::Process& process, const target::ProcessStatus& status) {
  const auto opened = process.root_fd() < 0 ? std::nullopt : place_of(process.root_fd(), "");
  const auto now = opened ? place_of(process.proc_fd(), "root") : std::nullopt;
  if (opened && !now && process.has_exited()) return fail(exited(process));
  const bool same_root = !opened || !now || *now == *opened;  // what may not be read is no change
  if (same_root && status.uid == process.uid()) return {};
  return fail(ErrorCategory::kNotAttachable,
              who(process) + " has changed its " + (same_root ? "user" : "root directory") +
                  " since it was looked at first; no signal sent",
              "it was just starting: try again");
}

// One check: nothing if SIGQUIT is caught and the JVM accepts attaching; sets `wait` if it may soon do so.
Result<> look(const target::Process& process, bool& wait) {
  wait = false;
  JTRACE_RETURN_IF_ERROR(check_state(process, process.status()));
  auto jvm = target::examine_jvm(process);
  if (!jvm) {
    wait = may_become_jvm(process) && !process.has_exited();
    return fail(process.has_exited() ? exited(process) : unseen(jvm.error()));
  }
  JTRACE_RETURN_IF_ERROR(check_enabled(process, *jvm));
  JTRACE_ASSIGN_OR_RETURN(const target::ProcessStatus status, process.status());
  JTRACE_RETURN_IF_ERROR(check_as_opened(process, status));
  if (status.catches(SIGQUIT)) {
    wait = !looks_at_signals(process);
    return wait ? fail(not_live(process)) : Result<>();
  }
  if (signals_are_reduced(process, *jvm)) return fail(signals_reduced(process, "-Xrs"));
  wait = true;
  return fail(signals_reduced(process, "because of -Xrs or another handler"));
}

}  // namespace

bool JvmOptions::flag(std::string_view name, bool otherwise) const {
  bool state = otherwise;
  for (const std::string& word : words) {
    if (!word.starts_with("-XX:") || word.size() < 6 || std::string_view(word).substr(5) != name) continue;
    state = word[4] == '+';
  }
  return state;
}

bool JvmOptions::has(std::string_view word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

JvmOptions options_of(const target::Process& process, const target::Jvm* jvm) {
  // In the order in which HotSpot reads them: the last one counts (arguments.cpp, Arguments::parse).
  constexpr std::string_view kVariables[] = {"JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=", "_JAVA_OPTIONS="};
  JvmOptions options;
  std::vector<std::string> environment;
  if (auto text = process.read_proc("environ")) environment = target::parse_cmdline(*text);
  const auto take = [&](std::string_view variable) {
    for (const std::string& entry : environment)
      if (entry.starts_with(variable)) append_words(options.words, std::string_view(entry).substr(variable.size()));
  };
  take(kVariables[0]);
  take(kVariables[1]);
  options.words.insert(options.words.end(), process.cmdline().begin(), process.cmdline().end());
  take(kVariables[2]);
  if (jvm) {
    const auto arguments = jvm->perf_strings.find("java.rt.vmArgs");
    if (arguments != jvm->perf_strings.end()) append_words(options.words, arguments->second);
  }
  return options;
}

Result<> check_state(const target::Process& process, const Result<target::ProcessStatus>& status) {
  if (!status || status->has_exited()) return fail(exited(process));
  if (!status->is_stopped()) return is_frozen(process) ? fail(frozen(process)) : Result<>();
  Error error{.category = ErrorCategory::kNotAttachable};
  error.text = who(process) + " is stopped (" +
               (status->tracer != 0 ? "by tracer " + std::to_string(status->tracer) : "by SIGSTOP or a tracer") +
               "); no signal sent";
  error.help = "continue it (kill -CONT " + std::to_string(process.pid()) + "), or jtrace stack " +
               std::to_string(process.pid()) + ", which needs no cooperation";
  return fail(std::move(error));
}

Result<> check_user(const target::Process& process) {
  const uid_t uid = ::geteuid();
  if (uid == 0 || (uid == process.uid() && ::getegid() == process.gid())) return {};
  Error error{.category = ErrorCategory::kPermission};
  error.text = "process " + std::to_string(process.pid()) + " runs as uid " + std::to_string(process.uid()) + " gid " +
               std::to_string(process.gid()) + ", you are uid " + std::to_string(uid) + " gid " +
               std::to_string(::getegid());
  error.help = "run as that user or root";
  return fail(std::move(error));
}

Result<> wait_until_signallable(const target::Process& process, const Waiter& waiter) {
  const bool young = age_of(process) <= kYoung;
  const auto give_up = Clock::now() + (young ? std::chrono::nanoseconds(kYoung) : std::chrono::nanoseconds(kGrace));
  const auto started = Clock::now();
  for (;;) {
    bool wait = false;
    auto outcome = look(process, wait);
    if (outcome || !wait || Clock::now() >= give_up) return outcome;
    switch (waiter.pause(std::chrono::milliseconds(2))) {
      case Woken::kReady: continue;
      case Woken::kExited: return fail(exited(process));
      case Woken::kCancelled:
        return fail(ErrorCategory::kRefused, "interrupted while waiting for " + who(process) + " to start");
      case Woken::kTimeout:
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started);
        return fail(ErrorCategory::kTimeout,
                    "waited " + std::to_string(waited.count()) + " ms for the SIGQUIT handler of " + who(process) +
                        "; no signal sent",
                    "the JVM is just starting: try again, or give a longer --timeout");
    }
  }
}

Result<target::Jvm> preflight(const target::Process& process) {
  JTRACE_RETURN_IF_ERROR(check_user(process));
  bool wait = false;
  auto outcome = look(process, wait);
  auto jvm = target::examine_jvm(process);
  if (outcome || !jvm) {
    if (!outcome && !jvm && !wait) return fail(outcome.error());
    return jvm;
  }
  // With -Xrs, a JVM whose socket exists can be attached to without a signal.
  if (outcome.error().category == ErrorCategory::kNotAttachable && !wait) {
    const auto rendezvous = Rendezvous::locate(process);
    const auto socket = rendezvous ? rendezvous->open_socket() : Result<UniqueFd>(UniqueFd());
    const auto status = process.status();
    const bool only_signals = status && !status->catches(SIGQUIT) && !status->is_stopped();
    if (!socket) return fail(socket.error());
    if (only_signals && *socket) return jvm;
  }
  if (!wait) return fail(outcome.error());
  return jvm;
}

}  // namespace jtrace::attach
