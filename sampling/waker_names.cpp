#include "sampling/waker_names.h"

#include "base/file.h"
#include "base/strings.h"
#include "sampling/wait_parties.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kMostProcesses = 1000;

}  // namespace

// A kernel thread has no command line. Nor has a process that is just ending.
std::string name_of_process(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/", comm = read_setting(folder + "comm");
  if (comm.empty()) return "";
  if (read_file(folder + "cmdline").value_or("").empty()) return "kernel thread " + printable(comm);
  return "process " + printable(comm) + " (" + std::to_string(pid) + ")";
}

std::string WakerNames::name(const Wakeup& wakeup, pid_t pid) {
  const auto waker_pid = static_cast<pid_t>(wakeup.waker_pid);
  if (wakeup.interrupt || waker_pid == 0) return kInterrupt;
  const std::string thread = in_jvm_(waker_pid, static_cast<pid_t>(wakeup.waker_tid));
  if (!thread.empty() && waker_pid == pid) return thread;
  if (processes_.size() >= kMostProcesses) processes_.clear();
  std::string& process = processes_[waker_pid];
  if (process.empty()) process = of_process_(waker_pid);
  if (process.empty()) process = "process " + std::to_string(waker_pid);
  return thread.empty() ? process : thread + " of " + process;
}

}  // namespace jtrace::sampling
