// Starting a JVM so that its probes are set before its first instruction: a child that waits, then becomes the command.
// One thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::dtrace {

// The libjvm.so that a java launcher will load: "java" out of PATH, or a path; links are followed. Errors: kNotFound.
Result<std::string> libjvm_of_launcher(const std::string& launcher);

// Whether the words of a java command, or the variables that java reads options from, switch a flag on.
bool switches_on(const std::vector<std::string>& command, std::string_view flag);
// kUsage: -XX:+ExtendedDTraceProbes for a libjvm.so that has no such flag any more (20 and later), which java would
// answer by ending.
Result<> check_flags(const std::vector<std::string>& command, const std::string& libjvm);

class LaunchedProcess {
 public:
  // A child that waits for go(). It ends by itself when this object goes without.
  static Result<LaunchedProcess> fork(const std::vector<std::string>& command);
  LaunchedProcess(LaunchedProcess&& other) noexcept = default;
  LaunchedProcess& operator=(LaunchedProcess&& other) noexcept = default;

  pid_t pid() const { return pid_; }
  // Becomes the command. kNotFound, kSystem: it could not be run; the child is gone.
  Result<> go();

 private:
  LaunchedProcess() = default;
  pid_t pid_ = -1;
  UniqueFd gate_;     // a byte lets it go
  UniqueFd failure_;  // errno of exec; closed by its success
  std::string name_;
};

}  // namespace jtrace::dtrace
