#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "coreinspect/tools/futex_waits.h"
#include "diagnose/collectors.h"
#include "target/proc_text.h"
#include "target/standstill.h"
#include "target/stat_line.h"

namespace jtrace::diagnose {
namespace {

// The tracer is a thread of this process: another collector is stopping the target for its stacks.
bool is_ours(pid_t tracer) {
  return tracer == ::getpid() || ::access(("/proc/self/task/" + std::to_string(tracer)).c_str(), F_OK) == 0;
}

// The state of the process without the stops of this program. A stopped process wakes for a moment after such a stop
// and then stops again, while a running process is never seen stopped: so it is stopped if one of several reads says
// so.
Result<target::ProcessStatus> status_of(const target::Process& process) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kBetween{5};
  auto status = process.status();
  for (int i = 0; i < kTries && status; ++i) {
    if (status->state == 'T' || (status->tracer != 0 && !is_ours(status->tracer))) return status;
    std::this_thread::sleep_for(kBetween);
    status = process.status();
  }
  if (status && status->tracer != 0 && is_ours(status->tracer)) status->tracer = 0;
  return status;
}

std::string name_of_tracer(pid_t tracer) {
  if (tracer == 0) return "";
  return read_setting("/proc/" + std::to_string(tracer) + "/comm") + ", process " + std::to_string(tracer);
}

std::optional<std::uint64_t> count_of_files(const target::Process& process) {
  const UniqueFd folder(::openat(process.proc_fd(), "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* entries = folder ? ::fdopendir(::dup(folder.get())) : nullptr;
  if (!entries) return std::nullopt;
  std::uint64_t count = 0;
  while (const dirent* entry = ::readdir(entries)) count += entry->d_name[0] == '.' ? 0 : 1;
  ::closedir(entries);
  return count;
}

// Threads in state D at this moment.
Result<std::vector<KernelWaitFact>> waits_of(const target::Process& process) {
  std::vector<KernelWaitFact> waits;
  JTRACE_ASSIGN_OR_RETURN(const std::vector<pid_t> threads, process.threads());
  for (const pid_t tid : threads) {
    const std::string folder = "task/" + std::to_string(tid) + "/";
    const auto stat = process.read_proc(folder + "stat");
    if (!stat || target::parse_state(*stat) != 'D') continue;
    KernelWaitFact wait{.tid = tid};
    if (const auto name = process.read_proc(folder + "comm")) wait.name = trimmed(*name);
    if (const auto place = process.read_proc(folder + "wchan"); place && trimmed(*place) != "0")
      wait.place = trimmed(*place);
    if (const auto status = process.read_proc(folder + "status"))
      wait.switches = coreinspect::count_of_switches(*status);
    waits.push_back(std::move(wait));
  }
  return waits;
}

}  // namespace

Result<Publish> ProcessCollector::look() {
  if (!process_) {
    JTRACE_ASSIGN_OR_RETURN(process_, target::Process::open(pid_));
  }
  JTRACE_ASSIGN_OR_RETURN(const target::ProcessStatus status, status_of(*process_));
  ProcessFact fact{.ns = monotonic_ns(), .state = status.state, .tracer = name_of_tracer(status.tracer)};
  fact.files = count_of_files(*process_);
  JTRACE_ASSIGN_OR_RETURN(fact.waits, waits_of(*process_));
  if (const auto text = process_->read_proc("status")) {
    fact.resident = target::bytes_of_status(*text, "VmRSS");
    fact.swapped = target::bytes_of_status(*text, "VmSwap");
  }
  if (const auto text = process_->read_proc("stat"))
    fact.major_faults = target::StatLine(*text).number(target::StatLine::kMajorFaults);
  if (const auto limits = process_->read_proc("limits"))
    fact.files_limit = target::soft_limit(*limits, "Max open files");
  return [fact](Collected& collected) { collected.facts.process.push_back(fact); };
}

}  // namespace jtrace::diagnose
