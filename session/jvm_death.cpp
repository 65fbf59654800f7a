#include "session/jvm_death.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "target/stat_line.h"
#include "trace/record/agent_classes.h"

namespace jtrace::session {
namespace {

using trace::record::AgentWork;

constexpr std::size_t kBeginning = 64 * 1024;  // how much of an hs_err file is read: header, stacks

// linux/pidfd.h, struct pidfd_info of Linux 6.13, with the exit status of 6.15.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t ids[11];
  std::int32_t exit_code;
};
constexpr std::uint64_t kInfoExit = 1u << 3;

std::string_view line_after(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  if (at == text.npos) return {};
  const std::size_t begin = text.find('\n', at);
  if (begin == text.npos) return {};
  return text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
}

std::string_view without_marks(std::string_view line) {
  while (!line.empty() && (line.front() == '#' || line.front() == ' ')) line.remove_prefix(1);
  return line;
}

std::string error_file_in(const std::vector<std::string>& words) {
  constexpr std::string_view kFlag = "-XX:ErrorFile=";
  std::string found;
  for (const std::string& word : words)
    if (const std::size_t at = word.find(kFlag); at != word.npos)
      found = word.substr(at + kFlag.size(), word.find_first_of(" \t", at) - at - kFlag.size());
  return found;
}

// Of a process whose parent has not waited for it yet.
std::optional<int> status_in(std::string_view stat) {
  const target::StatLine line(stat);
  if (line.state() != 'Z') return std::nullopt;
  return static_cast<int>(line.number(target::StatLine::kWaitStatus));
}

std::string_view text_of(AgentWork work) {
  switch (work) {
    case AgentWork::kRewriting: return "the agent was putting callouts into classes";
    case AgentWork::kRestoring: return "the agent was taking its callouts out of classes";
    case AgentWork::kLeaving: return "the agent was leaving";
    case AgentWork::kNone: break;
  }
  return "the agent was recording";
}

}  // namespace

std::string cause_in_report(std::string_view text) {
  // "#  SIGSEGV (0xb) at pc=..." or "#  Internal Error (file.cpp:12), pid=..." (vmError.cpp)
  const std::size_t at = text.find("\n#  ");
  if (at == text.npos) return {};
  std::string_view what = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  what = without_marks(what);
  std::string cause(what.substr(0, what.find(what.starts_with("SIG") ? " " : ", pid=")));
  const std::string_view frame = without_marks(line_after(text, "# Problematic frame:"));
  if (!frame.empty()) cause += " in " + std::string(frame);
  return cause;
}

bool names_agent(std::string_view report) {
  const std::size_t begin = report.find("Native frames:");
  if (begin == report.npos) return false;
  const std::string_view frames = report.substr(begin, report.find("\n\n\n", begin) - begin);
  const std::string_view most = frames.substr(0, frames.find("siginfo:"));
  return most.find(trace::record::kAgentClassPrefixInReports) != most.npos || most.find("jtrace_agent") != most.npos;
}

std::string end_of(std::optional<int> status) {
  if (!status) return "was killed";
  if (WIFEXITED(*status)) return "exited with status " + std::to_string(WEXITSTATUS(*status));
  const char* name = ::sigabbrev_np(WTERMSIG(*status));
  return "was killed by " + (name != nullptr ? "SIG" + std::string(name) : std::to_string(WTERMSIG(*status)));
}

std::string expanded(std::string_view pattern, pid_t pid, std::string_view name) {
  std::string made;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'p') made += std::to_string(pid);
    else if (next == 'e') made += name;
    else if (next == '%') made += '%';
    else {
      made += pattern[i];
      continue;
    }
    ++i;
  }
  return made;
}

JvmDeath::JvmDeath(const target::Process& process)
    : process_(process), since_(static_cast<std::int64_t>(realtime_ns() / kNanosPerSecond) - 1) {
  if (auto folder = process.open_cwd()) folder_ = std::move(*folder);
  char name[4096];
  const ssize_t size = ::readlinkat(process.proc_fd(), "cwd", name, sizeof name);
  if (size > 0) folder_name_.assign(name, static_cast<std::size_t>(size));
  std::vector<std::string> words;
  if (auto environment = process.read_proc("environ"))
    for (const std::string& each : target::parse_cmdline(*environment))
      if (each.find("_OPTIONS=") != each.npos) words.push_back(each);
  words.insert(words.end(), process.cmdline().begin(), process.cmdline().end());
  error_file_ = expanded(error_file_in(words), process.nspid(), process.comm());
}

std::string JvmDeath::describe(AgentWork work) const {
  const std::optional<int> status = wait_status();
  std::string text = end_of(status);
  const std::optional<Report> report = find_report();
  if (report) {
    const std::string cause = cause_in_report(report->text);
    text += "; " + report->path + (cause.empty() ? "" : ": " + cause);
  }
  if (const std::string left = core(status); !left.empty()) text += "; " + left;
  text += "; " + std::string(text_of(work));
  if (report && names_agent(report->text)) text += ", and the thread that failed was in a callout or in the agent";
  return text;
}

// Gives the parent a moment to wait for the process; if it does not, nothing is lost.
std::optional<int> JvmDeath::wait_status() const {
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (auto stat = process_.read_proc("stat"))
      if (const auto status = status_in(*stat)) return status;
    PidfdInfo info{};
    info.mask = kInfoExit;
    if (::ioctl(process_.pidfd(), _IOWR(0xff, 11, PidfdInfo), &info) == 0 && (info.mask & kInfoExit) != 0)
      return info.exit_code;
    ::usleep(5000);
  }
  return std::nullopt;
}

UniqueFd JvmDeath::open_fresh(const std::string& name) const {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd file;
  if (name.starts_with('/')) {
    if (auto opened = process_.open_in_root(name, kFlags)) file = std::move(*opened);
  } else if (folder_) {
    file.reset(::openat(folder_.get(), name.c_str(), kFlags));
  }
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_mtime < since_) return {};
  return file;
}

std::string JvmDeath::shown(const std::string& name) const {
  return name.starts_with('/') || folder_name_.empty() ? name : folder_name_ + "/" + name;
}

std::optional<JvmDeath::Report> JvmDeath::read_fresh(const std::string& name) const {
  const UniqueFd file = open_fresh(name);
  if (!file) return std::nullopt;
  Report found{shown(name), std::string(kBeginning, '\0')};
  const ssize_t size = ::pread(file.get(), found.text.data(), found.text.size(), 0);
  found.text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return found;
}

// Where HotSpot writes the file (vmError.cpp, prepare_log_file): -XX:ErrorFile, otherwise the current directory,
// otherwise /tmp.
std::optional<JvmDeath::Report> JvmDeath::find_report() const {
  const std::string name = "hs_err_pid" + std::to_string(process_.nspid()) + ".log";
  for (const std::string& each : {error_file_, name, "/tmp/" + name})
    if (!each.empty())
      if (auto found = read_fresh(each)) return found;
  return std::nullopt;
}

std::string JvmDeath::core(std::optional<int> status) const {
  if (status && (!WIFSIGNALED(*status) || !WCOREDUMP(*status))) return {};
  const auto read = read_file("/proc/sys/kernel/core_pattern");
  if (!read || read->empty()) return {};
  const std::string pattern = read->substr(0, read->find('\n'));
  if (pattern.starts_with('|')) return status ? "a core went to '" + pattern.substr(1) + "'" : "";
  std::string name = expanded(pattern, process_.nspid(), process_.comm());
  for (const std::string& each : {name, name + "." + std::to_string(process_.nspid())})
    if (open_fresh(each)) return "core: " + shown(each);
  return status ? "a core was written (core_pattern " + pattern + ")" : "";
}

}  // namespace jtrace::session
