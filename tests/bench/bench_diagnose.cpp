// `jtrace diagnose` compared with six calls of jcmd that collect the same, and `jtrace core` with gcore, in one run:
// time, stops, size, and what it adds to the target's page tables. Only JDKs of this machine, not of the chroot. A peer
// that is not installed is left out.
//
//   bench_diagnose [jcmd|gcore]...      all of them by default
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/strings.h"
#include "tests/bench/bench.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

constexpr double kSpacing = 400;  // ms: two intervals of the shortest kind

std::optional<CommandOutput> run(const Words& words, Words allowed = {"0"}) {
  const auto done = run_command(words, {.timeout = std::chrono::minutes(3)});
  if (!done || std::find(allowed.begin(), allowed.end(), std::to_string(done->status)) == allowed.end())
    return std::nullopt;
  return *done;
}
double milliseconds(const CommandOutput& done) {
  return std::chrono::duration<double, std::milli>(done.elapsed).count();
}

Result<std::unique_ptr<JvmProcess>> standing(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(auto jvm, JvmProcess::start(jdk, "Standing", attachable(jdk, {"-Xmx512m", "-Xms512m"})));
  JTRACE_RETURN_IF_ERROR(jvm->ask("more 45", std::chrono::minutes(3)));
  return jvm;
}

Words jcmd_of(const Jdk& jdk, const JvmProcess& jvm, Words request) {
  Words words{jdk.host_path("bin/jcmd"), jvm.pid_text()};
  words.insert(words.end(), request.begin(), request.end());
  return words;
}

Result<> bench_jcmd(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, standing(jdk));
  std::vector<double> verdict, bundle, longest, all, six;
  double read = 0;
  const ScratchDir folder;
  for (int i = 0; i < 7; ++i) {
    const Words ours{jtrace_binary(), "diagnose", jvm->pid_text(), "--interval", "0.2", "--format", "json"};
    if (const auto done = run(ours, {"0", "1"})) {
      verdict.push_back(milliseconds(*done) - kSpacing);
      const json cost = json::parse(done->out)["diagnosis"];
      longest.push_back(cost["pauseMicros"].get<double>() / 1000);
      all.push_back(cost["pauseAllMicros"].get<double>() / 1000);
      read = cost["bytesRead"].get<double>() / (1 << 20);
    }
    Words with_bundle = ours;
    with_bundle.insert(with_bundle.end(), {"-o", folder.file("b" + std::to_string(i) + ".zip")});
    if (const auto done = run(with_bundle, {"0", "1"})) bundle.push_back(milliseconds(*done) - kSpacing);
    double sum = 0;
    for (const Words& request : {Words{"Thread.print", "-l"}, Words{"Thread.print", "-l"}, Words{"Thread.print", "-l"},
                                 Words{"GC.class_histogram"}, Words{"VM.info"}, Words{"VM.flags"}})
      if (const auto done = run(jcmd_of(jdk, *jvm, request))) sum += milliseconds(*done);
    if (sum > 0) six.push_back(sum);
  }
  std::printf(
      "%-10s diagnose %7.1f ms, with a bundle %7.1f ms, beside the spacing; 6 x jcmd %7.1f ms: %.1f and %.1f times\n",
      jdk.name.c_str(), median(verdict), median(bundle), median(six), median(six) / median(verdict),
      median(six) / median(bundle));
  std::printf("%-10s stops: %.1f ms at the longest, %.1f in all, %.1f MiB read\n", jdk.name.c_str(), median(longest),
              median(all), read);
  return {};
}

struct Pages {
  double tables = 0, resident = 0;  // KiB
};
Pages pages_of(const JvmProcess& jvm) {
  Pages pages;
  for (const std::string_view line : split(read_file("/proc/" + jvm.pid_text() + "/status").value_or(""), '\n')) {
    if (line.starts_with("VmPTE:")) pages.tables = std::stod(std::string(line.substr(6)));
    if (line.starts_with("VmRSS:")) pages.resident = std::stod(std::string(line.substr(6)));
  }
  return pages;
}

Result<> bench_gcore(const Jdk& jdk) {
  const ScratchDir folder;
  const auto one = [&](const char* name, const Words& words, const std::string& file) -> Result<> {
    std::vector<double> times, sizes, tables;
    for (int i = 0; i < 3; ++i) {
      JTRACE_ASSIGN_OR_RETURN(const auto jvm, standing(jdk));
      const Pages before = pages_of(*jvm);
      Words command;
      for (const std::string& word : words) command.push_back(word == "PID" ? jvm->pid_text() : word);
      const auto done = run(command, {"0", "9"});
      if (!done) continue;
      const std::string path = fs::exists(file) ? file : file + "." + jvm->pid_text();
      times.push_back(milliseconds(*done));
      sizes.push_back(static_cast<double>(fs::file_size(path)) / (1 << 20));
      tables.push_back(pages_of(*jvm).tables - before.tables);
      fs::remove(path);
    }
    if (!times.empty())
      std::printf("%-10s %-20s %8.1f ms %8.1f MiB, page tables of the target +%.0f KiB\n", jdk.name.c_str(), name,
                  median(times), median(sizes), median(tables));
    return {};
  };
  const std::string core = folder.file("a.core"), peer = folder.file("peer");
  JTRACE_RETURN_IF_ERROR(one("jtrace core", {jtrace_binary(), "core", "PID", "-o", core, "--max-stop", "5s"}, core));
  JTRACE_RETURN_IF_ERROR(one("jtrace core --small", {jtrace_binary(), "core", "PID", "-o", core, "--small"}, core));
  return one("gcore", {"gcore", "-o", peer, "PID"}, peer);
}

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) {
  return jtrace::test::run_benches({{"jcmd", jtrace::test::bench_jcmd}, {"gcore", jtrace::test::bench_gcore}},
                                   std::set<std::string>(argv + 1, argv + argc));
}
