#include "cli/profile_targets.h"

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "base/strings.h"
#include "cli/inspect_common.h"
#include "cli/selector.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

// A process becomes a JVM when it has replaced its program, and can be read when the VM is up.
constexpr int kMostLooks = 10, kDone = 1000;

// The processes of this machine, without opening them.
std::vector<pid_t> process_numbers() {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored))
    if (const auto pid = parse_decimal<pid_t>(entry.path().filename().string())) pids.push_back(*pid);
  return pids;
}

}  // namespace

Result<ProfileTargets> ProfileTargets::open(const std::vector<std::string>& selectors) {
  ProfileTargets targets;
  for (const std::string& selector : selectors) targets.all_ = targets.all_ || selects_all(selector);
  if (!targets.all_) {
    for (const std::string& selector : selectors) JTRACE_RETURN_IF_ERROR(targets.open_named(selector));
    return targets;
  }
  for (const pid_t pid : process_numbers()) targets.looked_[pid] = kDone;
  Error last{.category = ErrorCategory::kNotFound, .text = "there is no JVM on this machine"};
  for (const target::Jvm& jvm : target::discover_jvms().jvms) {
    if (auto inspection = targets.open_pid(jvm.pid)) {
      targets.opened_.push_back(std::move(*inspection));
    } else {
      last = inspection.error();
      log_info("not sampled: " + last.message());
    }
  }
  if (targets.opened_.empty()) return fail(std::move(last));
  return targets;
}

Result<> ProfileTargets::open_named(const std::string& selector) {
  InspectArguments arguments;
  arguments.target = selector;
  JTRACE_ASSIGN_OR_RETURN(Inspection inspection, open_inspection(arguments));
  const target::Process* process = inspection->target().process();
  if (!process) return fail(ErrorCategory::kUsage, "a core does not run: it cannot be profiled", "jtrace stack CORE");
  for (const Inspection& other : opened_)
    if (other->target().process()->pid() == process->pid()) return {};
  label_of(process->pid());
  opened_.push_back(std::move(inspection));
  return {};
}

Result<ProfileTargets::Inspection> ProfileTargets::open_pid(pid_t pid) {
  InspectArguments arguments;
  arguments.target = std::to_string(pid);
  JTRACE_ASSIGN_OR_RETURN(Inspection inspection, open_inspection(arguments));
  JTRACE_RETURN_IF_ERROR(inspection->healthy());
  labels_.erase(pid);
  label_of(pid);
  return inspection;
}

std::vector<ProfileTargets::Inspection> ProfileTargets::newcomers() {
  std::vector<Inspection> found;
  std::map<pid_t, int> looked;
  for (const pid_t pid : process_numbers()) {
    const auto before = looked_.find(pid);
    int& looks = looked[pid] = before == looked_.end() ? 0 : before->second;
    if (looks >= kMostLooks) continue;
    ++looks;
    const auto process = target::Process::open(pid);
    if (!process || !target::libjvm_mapping(*process)) continue;
    auto inspection = open_pid(pid);
    if (!inspection) continue;
    found.push_back(std::move(*inspection));
    looks = kDone;
    log_debug("found " + label_of(pid));
  }
  looked_ = std::move(looked);
  return found;
}

const std::string& ProfileTargets::label_of(pid_t pid) {
  std::string& label = labels_[pid];
  if (!label.empty()) return label;
  const auto process = target::Process::open(pid);
  const auto jvm = process ? target::examine_jvm(*process) : fail(process.error());
  label = printable(jvm && !jvm->main_class.empty() ? jvm->main_class : "java") + " (" + std::to_string(pid) + ")";
  std::replace(label.begin(), label.end(), ';', ',');
  return label;
}

}  // namespace jtrace::cli
