// Starts a JVM so that its probes are set before its first instruction: a child waits, and then executes the command.
// One thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::dtrace {

// The libjvm.so that a java launcher will load: "java" from PATH, or a path; links are followed. Errors: kNotFound.
Result<std::string> libjvm_of_launcher(const std::string& launcher);

// Whether the words of a java command, or the environment variables with java's options, switch a flag on.
bool switches_on(const std::vector<std::string>& command, std::string_view flag);
// kUsage: -XX:+ExtendedDTraceProbes with a libjvm.so that no longer has this flag (20 and later), with which java would
// end at once.
Result<> check_flags(const std::vector<std::string>& command, const std::string& libjvm);

class LaunchedProcess {
 public:
  // A child that waits for go(). It ends by itself if this object is destroyed without go().
  static Result<LaunchedProcess> fork(const std::vector<std::string>& command);
  LaunchedProcess(LaunchedProcess&& other) noexcept = default;
  LaunchedProcess& operator=(LaunchedProcess&& other) noexcept = default;

  pid_t pid() const { return pid_; }
  // Executes the command. kNotFound, kSystem: it could not be executed; the child has ended.
  Result<> go();

 private:
  LaunchedProcess() = default;
  pid_t pid_ = -1;
  UniqueFd gate_;     // a byte starts the command
  UniqueFd failure_;  // errno of exec; closed by its success
  std::string name_;
};

}  // namespace jtrace::dtrace
