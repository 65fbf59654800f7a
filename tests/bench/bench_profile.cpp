// `jtrace profile` compared with JFR and with no profiler, interleaved in one run: its cost for a busy program, the
// processor time of its own process, and how far its shares are from those of a program that measures itself. Only JDKs
// of this machine, not of the chroot (JTRACE_TEST_JDKS selects some); a JDK without jcmd and jfr is measured without
// JFR.
//
//   bench_profile [cost|shares]...      both by default
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "tests/bench/bench.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

constexpr int kPairs = 10;                             // of runs with and without
constexpr double kRunMs = 1500;                        // of one of them
constexpr auto kSharesTime = std::chrono::seconds(8);  // of one profile

using Shares = std::map<std::string, double>;  // by part; not normalised

// --- cost

// The program's own time for `size` rounds, ms.
Result<double> spin(JvmProcess& jvm, int size) {
  JTRACE_ASSIGN_OR_RETURN(const std::string answer, jvm.ask("run " + std::to_string(size)));
  return std::strtod(answer.c_str(), nullptr) / 1e6;
}

Result<> cost_at(const Jdk& jdk, JvmProcess& jvm, int size, const char* hz) {
  std::vector<double> ratios;
  std::string last;
  for (int i = 0; i < kPairs; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const double before, spin(jvm, size));
    JTRACE_ASSIGN_OR_RETURN(
        auto profiler, BackgroundCommand::start({jtrace_binary(), "profile", jvm.pid_text(), "--hz", hz, "-o", "-"}));
    JTRACE_RETURN_IF_ERROR(spin(jvm, size / 8));  // while it opens its target
    JTRACE_ASSIGN_OR_RETURN(const double with, spin(jvm, size));
    profiler->signal(SIGINT);
    JTRACE_RETURN_IF_ERROR(profiler->wait_exit());
    last = profiler->err();
    JTRACE_ASSIGN_OR_RETURN(const double after, spin(jvm, size));
    ratios.push_back(with / ((before + after) / 2));
  }
  std::printf("%-12s %4s Hz: ratio %.4f (goal <= %s); %s", jdk.name.c_str(), hz, median(ratios),
              std::string(hz) == "99" ? "1.01" : "1.05", last.c_str());
  return {};
}

Result<> bench_cost(const Jdk& jdk) {
  JTRACE_ASSIGN_OR_RETURN(const auto jvm, JvmProcess::start(jdk, "Spin", attachable(jdk)));
  JTRACE_RETURN_IF_ERROR(spin(*jvm, 60));
  JTRACE_ASSIGN_OR_RETURN(const double warm, spin(*jvm, 60));
  const int size = static_cast<int>(60 * kRunMs / warm);
  for (const char* hz : {"99", "999"}) JTRACE_RETURN_IF_ERROR(cost_at(jdk, *jvm, size, hz));
  const auto reader = run_jtrace({"profile", jvm->pid_text(), "--duration", "8"}, {.timeout = std::chrono::minutes(1)});
  // On an idle JVM: the cost of opening a target and reading its rings.
  if (reader)
    std::printf("%-12s reader at rest: %.2f %% of a processor, the opening of the target included\n", jdk.name.c_str(),
                100 * std::chrono::duration<double>(reader->cpu).count() /
                    std::chrono::duration<double>(reader->elapsed).count());
  return {};
}

// --- shares

std::string part_in(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(std::string(before) + "Parts.part");
  if (at == text.npos) return "";
  const std::size_t start = at + before.size() + 10;
  std::string name(text.substr(start, text.find_first_of(";( ", start) - start));
  name[0] = static_cast<char>(std::tolower(name[0]));
  return name;
}

Result<Shares> spent(JvmProcess& jvm) {
  JTRACE_ASSIGN_OR_RETURN(const std::string answer, jvm.ask("report"));
  std::istringstream words(answer);
  Shares parts;
  std::string name;
  for (double ns = 0; words >> name >> ns;) parts[name] = ns;
  return parts;
}

Result<Shares> by_jtrace(JvmProcess& jvm, const std::string& hz, const std::string& path) {
  const std::string seconds = std::to_string(kSharesTime.count());
  JTRACE_ASSIGN_OR_RETURN(const auto done, run_jtrace({"profile", jvm.pid_text(), "--hz", hz, "--duration", seconds,
                                                       "-o", path + ".collapsed"}));
  if (done.status != 0) return fail(ErrorCategory::kSystem, done.err);
  Shares parts;
  std::ifstream file(path + ".collapsed");
  for (std::string line; std::getline(file, line);)
    if (const std::string part = part_in(line, ";"); !part.empty())
      parts[part] += std::stod(line.substr(line.rfind(' ')));
  return parts;
}

// One recording; `period` is that of jdk.ExecutionSample.
Result<Shares> by_jfr(const Jdk& jdk, JvmProcess& jvm, const std::string& period, const std::string& path) {
  const auto tool = [&](const char* name, std::vector<std::string> words) -> Result<std::string> {
    words.insert(words.begin(), jdk.home + "/bin/" + name);
    JTRACE_ASSIGN_OR_RETURN(const auto done, run_command(words, {.timeout = std::chrono::minutes(2)}));
    if (done.status != 0) return fail(ErrorCategory::kSystem, words[0] + ": " + done.err);
    return done.out;
  };
  JTRACE_RETURN_IF_ERROR(tool(
      "jcmd", {jvm.pid_text(), "JFR.start", "name=bench", "settings=profile", "jdk.ExecutionSample#period=" + period}));
  std::this_thread::sleep_for(kSharesTime);
  JTRACE_RETURN_IF_ERROR(tool("jcmd", {jvm.pid_text(), "JFR.stop", "name=bench", "filename=" + path + ".jfr"}));
  JTRACE_ASSIGN_OR_RETURN(const std::string text, tool("jfr", {"print", "--events", "jdk.ExecutionSample",
                                                               "--stack-depth", "64", path + ".jfr"}));
  Shares parts;
  constexpr std::string_view kBegin = "jdk.ExecutionSample {";
  for (std::size_t at = text.find(kBegin); at != text.npos;) {
    const std::size_t next = text.find(kBegin, at + 1);
    const auto event = std::string_view(text).substr(at, next == text.npos ? text.npos : next - at);
    if (const std::string part = part_in(event, ""); !part.empty()) ++parts[part];
    at = next;
  }
  return parts;
}

double sum(const Shares& shares) {
  double all = 0;
  for (const auto& [part, value] : shares) all += value;
  return all;
}

void print_error(const Jdk& jdk, const std::string& who, const Shares& truth, Shares got) {
  double largest = 0;
  std::string where;
  for (const auto& [part, ns] : truth) {
    const double error = 100 * std::abs(got[part] / std::max(sum(got), 1.0) - ns / sum(truth));
    if (error > largest) largest = error, where = part;
  }
  std::printf("%-12s %-14s %6.0f samples in parts, largest error %4.1f points (%s)\n", jdk.name.c_str(), who.c_str(),
              sum(got), largest, where.c_str());
}

Result<> measure(const Jdk& jdk, JvmProcess& jvm, const std::string& who, const std::function<Result<Shares>()>& take) {
  JTRACE_ASSIGN_OR_RETURN(const Shares before, spent(jvm));
  JTRACE_ASSIGN_OR_RETURN(const Shares got, take());
  JTRACE_ASSIGN_OR_RETURN(Shares truth, spent(jvm));
  for (auto& [part, ns] : truth) ns -= before.at(part);
  print_error(jdk, who, truth, got);
  return {};
}

Result<> bench_shares(const Jdk& jdk) {
  const ScratchDir folder;
  JTRACE_ASSIGN_OR_RETURN(const auto jvm,
                          JvmProcess::start(jdk, "Parts",
                                            {.flags = {"-Xmx256m", "-XX:CompileCommand=quiet",
                                                       "-XX:CompileCommand=exclude,Parts.partInterpreted",
                                                       "-XX:CompileCommand=dontinline,Parts.part*"}}));
  JTRACE_RETURN_IF_ERROR(jvm->ask("start 2"));
  std::this_thread::sleep_for(std::chrono::seconds(5));  // until it is compiled
  const std::string path = folder.file("profile");
  for (const char* hz : {"99", "499"})
    JTRACE_RETURN_IF_ERROR(
        measure(jdk, *jvm, std::string("jtrace ") + hz + " Hz", [&] { return by_jtrace(*jvm, hz, path); }));
  if (!std::filesystem::exists(jdk.home + "/bin/jfr")) return {};
  for (const char* period : {"10ms", "20ms"})
    JTRACE_RETURN_IF_ERROR(
        measure(jdk, *jvm, std::string("JFR ") + period, [&] { return by_jfr(jdk, *jvm, period, path); }));
  return {};
}

const Benches kAll = {{"cost", bench_cost}, {"shares", bench_shares}};

}  // namespace
}  // namespace jtrace::test

int main(int argc, char** argv) { return jtrace::test::run_benches(jtrace::test::kAll, {argv + 1, argv + argc}); }
