#include "sampling/profile_targets.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/joined.h"
#include "base/log.h"
#include "base/strings.h"
#include "target/cgroup.h"
#include "target/jvm_discovery.h"

namespace jtrace::sampling {
namespace {

// The processes of this machine, without opening them.
std::vector<pid_t> process_numbers() {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored))
    if (const auto pid = parse_decimal<pid_t>(entry.path().filename().string())) pids.push_back(*pid);
  return pids;
}

// Its executable and command line; "" of a kernel thread, or if it is gone.
std::string program_of(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  const std::string words = read_file(folder + "cmdline").value_or("");
  if (words.empty()) return "";
  std::error_code hidden;
  return std::filesystem::read_symlink(folder + "exe", hidden).string() + words;
}

bool has_libjvm(pid_t pid) {
  const auto process = target::Process::open(pid);
  return process && target::libjvm_mapping(*process);
}

std::string groups_of(pid_t pid) { return read_file("/proc/" + std::to_string(pid) + "/cgroup").value_or(""); }

// The container, if `group` is the beginning of its id: another one may begin so later.
Result<std::string> whole_group(const std::string& group, const std::vector<target::Jvm>& jvms) {
  std::set<std::string> containers;
  for (const target::Jvm& jvm : jvms) {
    const std::string groups = groups_of(jvm.pid);
    if (target::is_in_group(groups, group)) return group;
    if (std::string container = target::container_with_beginning(groups, group); !container.empty())
      containers.insert(std::move(container));
  }
  if (containers.size() > 1)
    return fail(ErrorCategory::kUsage,
                "several containers begin with " + printable(group) + ": " +
                    joined(std::vector<std::string>(containers.begin(), containers.end())),
                "more of the id");
  return containers.empty() ? group : *containers.begin();
}

}  // namespace

Result<ProfileTargets> ProfileTargets::open_named(OpenTarget open_target, const std::vector<std::string>& selectors) {
  ProfileTargets targets(std::move(open_target), false, "");
  for (const std::string& word : selectors)
    for (const std::string_view selector : split(word, ',')) JTRACE_RETURN_IF_ERROR(targets.add(std::string(selector)));
  return targets;
}

Result<ProfileTargets> ProfileTargets::open_all(OpenTarget open_target, std::string group) {
  const std::vector<target::Jvm> jvms = target::discover_jvms().jvms;
  JTRACE_ASSIGN_OR_RETURN(group, whole_group(group, jvms));
  ProfileTargets targets(std::move(open_target), true, std::move(group));
  Error last{.category = ErrorCategory::kNotFound,
             .text = targets.group_.empty() ? "there is no JVM on this machine"
                                            : "there is no JVM in the group or container " + targets.group_,
             .help = targets.group_.empty() ? "" : "jtrace list has each JVM's container"};
  for (const target::Jvm& jvm : jvms) {
    if (!targets.is_wanted(jvm.pid)) continue;
    if (auto inspection = targets.open_pid(jvm.pid)) {
      targets.opened_.push_back(std::move(*inspection));
    } else {
      last = inspection.error();
      targets.leave_out(last);
      targets.looks_.is_due(jvm.pid, program_of(jvm.pid));
      targets.looks_.reported(jvm.pid);
    }
  }
  if (targets.opened_.empty()) return fail(std::move(last));
  return targets;
}

void ProfileTargets::leave_out(const Error& error) {
  missing_.push_back("not sampled: " + error.message());
  log_info(missing_.back());
}

bool ProfileTargets::is_wanted(pid_t pid) const {
  return group_.empty() || target::is_in_group(groups_of(pid), group_);
}

Result<> ProfileTargets::add(const std::string& selector) {
  JTRACE_ASSIGN_OR_RETURN(Inspection inspection, open_target_(selector));
  const target::Process* process = inspection->target().process();
  if (!process) return fail(ErrorCategory::kUsage, "a core does not run: it cannot be profiled", "jtrace stack CORE");
  for (const Inspection& other : opened_)
    if (other->target().process()->pid() == process->pid()) return {};
  label_of(process->pid());
  opened_.push_back(std::move(inspection));
  return {};
}

Result<ProfileTargets::Inspection> ProfileTargets::open_pid(pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(Inspection inspection, open_target_(std::to_string(pid)));
  JTRACE_RETURN_IF_ERROR(inspection->healthy());
  labels_.erase(pid);
  label_of(pid);
  looks_.done(pid);
  return inspection;
}

std::vector<ProfileTargets::Inspection> ProfileTargets::newcomers() {
  std::vector<Inspection> found;
  for (const pid_t pid : process_numbers()) {
    const std::string program = program_of(pid);
    // A process is often moved to its group after it has started.
    if (program.empty() || !is_wanted(pid) || !looks_.is_due(pid, program) || !has_libjvm(pid)) continue;
    auto inspection = open_pid(pid);
    if (inspection) {
      found.push_back(std::move(*inspection));
      log_debug("found " + label_of(pid));
    } else if (looks_.needs_report(pid)) {
      leave_out(inspection.error());
      looks_.reported(pid);
    }
  }
  looks_.end_round();
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

}  // namespace jtrace::sampling
