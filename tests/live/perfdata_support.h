// Shared by the live tests of hsperf: the tool, the JDK's own jstat and jcmd for comparison, JVMs with every collector.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"

namespace jtrace::test {

inline std::string hsperf_binary() {
  return (std::filesystem::path(jtrace_binary()).parent_path() / "hsperf").string();
}
Result<CommandOutput> run_hsperf(const std::vector<std::string>& arguments, const CommandOptions& options = {});

// jstat and jcmd PID PerfCounter.print of JDK 25, in one JVM (tests/apps/PerfOracle.java).
class PerfOracle {
 public:
  // Error: there is no JDK 25 here.
  static Result<std::unique_ptr<PerfOracle>> start();

  // A file that the oracle knows by `name`; gives its path as this process sees it.
  Result<std::string> adopt(const std::string& bytes, const std::string& name);
  // What `jstat WORD...` prints; "@NAME" is an adopted file.
  Result<std::string> jstat(const std::string& words) { return ask("jstat " + words); }
  // What `jcmd PID PerfCounter.print` prints after its first line.
  Result<std::string> counters(pid_t pid) { return ask("counters " + std::to_string(pid)); }

 private:
  explicit PerfOracle(std::unique_ptr<JvmProcess> jvm) : jvm_(std::move(jvm)) {}
  Result<std::string> ask(const std::string& line);

  std::unique_ptr<JvmProcess> jvm_;
};

// A collector of a JDK and its flags: those of jdk_matrix.h, and CMS (JDK 8 and 11) and Epsilon (11 and later).
struct CollectorChoice {
  std::string name;
  std::vector<std::string> flags;
};
std::vector<CollectorChoice> collector_choices(const Jdk& jdk);

// The hsperfdata file of a JVM, as this process can open it; "" if it has none.
std::string counter_file(const JvmProcess& jvm);

// Stops all threads of a JVM until the object is destroyed, so that its counters do not change.
class ScopedStop {
 public:
  explicit ScopedStop(const JvmProcess& jvm);
  ~ScopedStop();
  ScopedStop(const ScopedStop&) = delete;
  ScopedStop& operator=(const ScopedStop&) = delete;

 private:
  const JvmProcess& jvm_;
};

}  // namespace jtrace::test
