// ProfileTargets: the JVMs that `jtrace profile` samples: those that were named, or all of the machine, with those that
// start meanwhile. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "sampling/process_looks.h"

namespace jtrace::cli {

class ProfileTargets {
 public:
  using Inspection = std::shared_ptr<coreinspect::Inspection>;

  // Selectors of JVMs, or "all". Errors: of the JVM that cannot be opened; with "all" those are left out with a line on
  // stderr, and it is an error if none can be.
  static Result<ProfileTargets> open(const std::vector<std::string>& selectors);

  const std::vector<Inspection>& opened() const { return opened_; }
  bool several() const { return all_ || opened_.size() > 1; }
  bool all() const { return all_; }
  // JVMs that have started since; each once. One that is not ready yet is tried again at the next calls, at last with a
  // line on stderr.
  std::vector<Inspection> newcomers();
  // "Main (4711)".
  const std::string& label_of(pid_t pid);

 private:
  Result<> open_named(const std::string& selector);
  Result<Inspection> open_pid(pid_t pid);

  bool all_ = false;
  std::vector<Inspection> opened_;
  sampling::ProcessLooks looks_;
  std::map<pid_t, std::string> labels_;
};

}  // namespace jtrace::cli
