#include "dtrace/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::dtrace {
namespace {

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? resolved : "";
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return real_path(name);
  const char* path = ::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    const std::string candidate = std::string(folder) + "/" + name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return real_path(candidate);
  }
  return {};
}

}  // namespace

Result<std::string> libjvm_of_launcher(const std::string& launcher) {
  const std::string program = find_program(launcher);
  if (program.empty()) return fail(ErrorCategory::kNotFound, "there is no program '" + launcher + "' to start");
  const std::string home = program.substr(0, program.rfind("/bin/"));
  for (const char* place : {"/lib/server/libjvm.so", "/jre/lib/amd64/server/libjvm.so", "/lib/amd64/server/libjvm.so",
                            "/jre/lib/aarch64/server/libjvm.so", "/lib/aarch64/server/libjvm.so"})
    if (const std::string found = real_path(home + place); !found.empty()) return found;
  return fail(ErrorCategory::kNotFound, "there is no libjvm.so beside " + program,
              "start the JVM by the java of a JDK, or trace it once it runs");
}

bool switches_on(const std::vector<std::string>& command, std::string_view flag) {
  const std::string option = "-XX:+" + std::string(flag);
  if (std::find(command.begin(), command.end(), option) != command.end()) return true;
  for (const char* name : {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
    if (const char* value = ::getenv(name); value != nullptr && std::strstr(value, option.c_str()) != nullptr)
      return true;
  return false;
}

Result<> check_flags(const std::vector<std::string>& command, const std::string& libjvm) {
  constexpr std::string_view kFlag = "ExtendedDTraceProbes";
  if (!switches_on(command, kFlag)) return {};
  JTRACE_ASSIGN_OR_RETURN(const std::string bytes, read_file(libjvm, std::size_t{1} << 30));
  if (bytes.find(kFlag) != bytes.npos) return {};
  return fail(ErrorCategory::kUsage, "this JVM has no flag ExtendedDTraceProbes: JDK 20 removed it",
              "give java -XX:+DTraceMethodProbes -XX:+DTraceAllocProbes -XX:+DTraceMonitorProbes");
}

Result<LaunchedProcess> LaunchedProcess::fork(const std::vector<std::string>& command) {
  int gate[2], failure[2];
  if (::pipe2(gate, O_CLOEXEC) != 0) return fail(system_error("cannot make a pipe"));
  LaunchedProcess made;
  made.name_ = command.front();
  UniqueFd gate_end(gate[0]);
  made.gate_.reset(gate[1]);
  if (::pipe2(failure, O_CLOEXEC) != 0) return fail(system_error("cannot make a pipe"));
  made.failure_.reset(failure[0]);
  UniqueFd failure_end(failure[1]);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  made.pid_ = ::fork();
  if (made.pid_ < 0) return fail(system_error("cannot start a process"));
  if (made.pid_ == 0) {
    made.gate_.reset();  // otherwise the child would keep its own gate open
    char go = 0;
    if (::read(gate[0], &go, 1) != 1) ::_exit(127);
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(arguments[0], arguments.data());
    const int error = errno;
    (void)!::write(failure[1], &error, sizeof error);
    ::_exit(127);
  }
  return made;
}

Result<> LaunchedProcess::go() {
  const char go = 1;
  if (::write(gate_.get(), &go, 1) != 1) return fail(system_error("cannot continue the started process"));
  int error = 0;
  if (::read(failure_.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(pid_, nullptr, 0);
    return fail(system_error(error, "cannot run", name_));
  }
  return {};
}

}  // namespace jtrace::dtrace
