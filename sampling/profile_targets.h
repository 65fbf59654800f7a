// ProfileTargets: the JVMs that `jtrace profile` samples: those that were named, or all of the machine, with those that
// start meanwhile. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "sampling/process_looks.h"

namespace jtrace::sampling {

class ProfileTargets {
 public:
  using Inspection = std::shared_ptr<coreinspect::Inspection>;

  // Opens the process or core that a selector names.
  using OpenTarget = std::function<Result<Inspection>(const std::string& selector)>;

  // Those that the selectors name; each may be several with commas between them. Errors: of the JVM that cannot be
  // opened.
  static Result<ProfileTargets> open_named(OpenTarget open_target, const std::vector<std::string>& selectors);
  // All of the machine, or of a control group or container (target::is_in_group, or the beginning of a container's id)
  // if it is not "". Those that cannot be opened are left out with a line on stderr. Errors: none can be; kUsage: the
  // ids of several containers begin so.
  static Result<ProfileTargets> open_all(OpenTarget open_target, std::string group);

  const std::vector<Inspection>& opened() const { return opened_; }
  bool several() const { return all_ || opened_.size() > 1; }
  bool all() const { return all_; }
  // JVMs that have started since; each once. One that is not ready yet is tried again at the next calls, at last with a
  // line on stderr.
  std::vector<Inspection> newcomers();
  // Those that cannot be opened; one line each.
  const std::vector<std::string>& missing() const { return missing_; }
  // "Main (4711)".
  const std::string& label_of(pid_t pid);

 private:
  ProfileTargets(OpenTarget open_target, bool all, std::string group)
      : open_target_(std::move(open_target)), all_(all), group_(std::move(group)) {}
  bool is_wanted(pid_t pid) const;
  void leave_out(const Error& error);
  Result<> add(const std::string& selector);
  Result<Inspection> open_pid(pid_t pid);

  OpenTarget open_target_;
  bool all_;
  std::string group_;  // "": any
  std::vector<Inspection> opened_;
  ProcessLooks looks_;
  std::map<pid_t, std::string> labels_;
  std::vector<std::string> missing_;
};

}  // namespace jtrace::sampling
