#include "tests/live/perfdata_support.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "base/file.h"
#include "base/strings.h"

namespace jtrace::test {

namespace fs = std::filesystem;

Result<CommandOutput> run_hsperf(const std::vector<std::string>& arguments, const CommandOptions& options) {
  std::vector<std::string> argv{hsperf_binary()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_command(argv, options);
}

Result<std::unique_ptr<PerfOracle>> PerfOracle::start() {
  const auto jdk = jdk_of_version(25);
  if (!jdk) return fail(ErrorCategory::kNotFound, "no JDK 25 here: its jstat is the judge");
  JvmOptions options;
  options.flags = {"--add-modules=jdk.jcmd",
                   "--add-opens=jdk.jcmd/sun.tools.jstat=ALL-UNNAMED",
                   "--add-opens=jdk.jcmd/sun.tools.jcmd=ALL-UNNAMED",
                   "-Duser.language=en",
                   "-XX:+UseSerialGC",
                   "-XX:TieredStopAtLevel=1"};
  JTRACE_ASSIGN_OR_RETURN(auto jvm, JvmProcess::start(*jdk, "PerfOracle", options));
  return std::unique_ptr<PerfOracle>(new PerfOracle(std::move(jvm)));
}

Result<std::string> PerfOracle::adopt(const std::string& bytes, const std::string& name) {
  const std::string path = jvm_->in_working_folder(name);
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  JTRACE_RETURN_IF_ERROR(write_whole(file.get(), bytes, path));
  return path;
}

Result<std::string> PerfOracle::ask(const std::string& line) {
  JTRACE_ASSIGN_OR_RETURN(const std::string answer, jvm_->ask(line));
  std::string text;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    if (answer[i] != '\\' || i + 1 == answer.size()) text += answer[i];
    else text += answer[++i] == 'n' ? '\n' : answer[i];
  }
  return text;
}

std::vector<CollectorChoice> collector_choices(const Jdk& jdk) {
  std::vector<CollectorChoice> choices;
  for (const Collector collector : jdk.collectors())
    choices.push_back({std::string(to_string(collector)), jdk.collector_flags(collector)});
  if (jdk.version < 14) choices.push_back({"CMS", {"-XX:+UseConcMarkSweepGC"}});
  if (jdk.version >= 11) choices.push_back({"Epsilon", {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"}});
  return choices;
}

std::string counter_file(const JvmProcess& jvm) {
  const auto status = read_file("/proc/" + jvm.pid_text() + "/status");
  const std::size_t at = status ? status->find("NSpid:") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::string line = status->substr(at, status->find('\n', at) - at);
  const std::string name = line.substr(line.find_last_of(" \t") + 1);
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(jvm.inside("/tmp"), error)) {
    const fs::path file = folder.path() / name;
    if (folder.path().filename().string().starts_with("hsperfdata_") && fs::exists(file, error)) return file.string();
  }
  return {};
}

ScopedStop::ScopedStop(const JvmProcess& jvm) : jvm_(jvm) {
  jvm_.signal(SIGSTOP);
  const auto stopped = [&] {
    const auto stat = read_file("/proc/" + jvm_.pid_text() + "/stat");
    return !stat || stat->find(") T ") != std::string::npos;
  };
  while (!stopped()) std::this_thread::yield();
}

ScopedStop::~ScopedStop() { jvm_.signal(SIGCONT); }

}  // namespace jtrace::test
