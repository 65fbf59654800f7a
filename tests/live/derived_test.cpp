// Results derived from traces of real JVMs: sampled allocations against a program that counts its own, and the parts of
// a rotated trace against the whole trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class Derived : public ::testing::TestWithParam<Jdk> {
 protected:
  std::string run(std::vector<std::string> arguments, int status = 0) {
    const auto done = run_jtrace(arguments, {.timeout = std::chrono::minutes(3)});
    if (!done) {
      ADD_FAILURE() << done.error().message();
      return {};
    }
    EXPECT_EQ(done->status, status) << ::testing::PrintToString(arguments) << "\n" << done->err << done->out;
    return status == 0 ? done->out : done->out + done->err;
  }
  json stats(std::vector<std::string> inputs) {
    inputs.insert(inputs.begin(), "stats");
    inputs.insert(inputs.end(), {"--format", "json", "--rows", "100000"});
    return json::parse(run(inputs));
  }
  // Reads the file again and again, compressed or not, as far as it is written.
  static bool is_rewritten(const std::string& path) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      const auto read = run_jtrace({"convert", path, "-o", "-", "--to", "xml"});
      if (read && read->out.find("jtrace.rewritten") != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  ScratchDir folder_{"jtrace-derived"};
};
JTRACE_ON_EACH_JDK(Derived);

double number_in(const std::string& answer, const std::string& name) {
  const std::size_t at = answer.find(name + "=");
  return at == std::string::npos ? 0 : std::strtod(answer.c_str() + at + name.size() + 1, nullptr);
}
double of_class(const json& statistics, const std::string& name, const char* what) {
  for (const json& process : statistics["data"])
    if (process.contains("allocations"))
      for (const json& row : process["allocations"])
        if (row["class"] == name) return row[what];
  return 0;
}

// 32 KiB between samples: some 10,000 samples of each kind, so that 5 % are five sigmas. The objects are small: of
// larger ones JVMs before 25 take too many samples (docs/formats.md).
TEST_P(Derived, SampledAllocationsAreWhatTheProgramAllocated) {
  if (GetParam().version < 11) GTEST_SKIP() << "JDK 8 has no samples";
  auto jvm = JvmProcess::start(GetParam(), "Allocations", attachable(GetParam(), {"-Xmx300m"}));
  ASSERT_TRUE(jvm) << jvm.error().message();
  auto trace = TraceRun::start((*jvm)->pid(), {"--events", "objAlloc", "--sample-interval", "32K", "--stack-depth", "2",
                                               "--when-full", "block", "--block-limit", "10000"});
  ASSERT_TRUE(trace) << trace.error().message();
  std::map<std::string, std::pair<double, double>> made;
  for (const auto& [command, type] :
       {std::pair("things 10000000", "Allocations$Thing"), std::pair("bytes 1500000", "byte[]"),
        std::pair("ints 1500000", "int[]"), std::pair("strings 2800000", "java.lang.String[]"),
        std::pair("names 2800000", "java.lang.String[][]")}) {
    const auto answer = (*jvm)->ask(command);
    ASSERT_TRUE(answer) << answer.error().message();
    made[type] = {number_in(*answer, "objects"), number_in(*answer, "bytes")};
  }
  ASSERT_TRUE((*trace)->stop());
  const json told = stats({(*trace)->path()});
  for (const auto& [type, amount] : made) {
    EXPECT_NEAR(of_class(told, type, "instances") / amount.first, 1, 0.05) << type;
    EXPECT_NEAR(of_class(told, type, "bytes") / amount.second, 1, 0.05) << type;
    EXPECT_GT(of_class(told, type, "recorded"), 8'000) << type;
  }
  EXPECT_EQ(of_class(told, "?", "recorded"), 0);
  EXPECT_THAT(run({"stats", (*trace)->path()}), HasSubstr("estimated from"));
  // The flame graph has the same bytes.
  run({"convert", (*trace)->path(), "-o", folder_.file("a.collapsed"), "--weight", "alloc"});
  std::istringstream lines(run({"convert", (*trace)->path(), "-o", "-", "--to", "collapsed", "--weight", "alloc"}));
  double bytes = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find(";byte[] ") != std::string::npos) bytes += std::strtod(line.c_str() + line.rfind(' '), nullptr);
  EXPECT_NEAR(bytes / of_class(told, "byte[]", "bytes"), 1, 0.001);
}

TEST_P(Derived, AllocationsOfCalloutsStayExact) {
  auto jvm = JvmProcess::start(GetParam(), "Allocations", attachable(GetParam()));
  ASSERT_TRUE(jvm) << jvm.error().message();
  auto trace =
      TraceRun::start((*jvm)->pid(), {"--events", "objects,allocations", "--when-full", "block", "--block-limit",
                                      "10000", "--filter", "Allocations include", "--filter", "* exclude"});
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_TRUE(wait_for_bytes((*trace)->path(), "jtrace.rewritten", std::chrono::seconds(60),
                             [&] { return (*trace)->command().alive(); }));
  const auto things = (*jvm)->ask("things 1000"), bytes = (*jvm)->ask("bytes 100");
  ASSERT_TRUE(things && bytes);
  ASSERT_TRUE((*trace)->stop());
  const json told = stats({(*trace)->path()});
  EXPECT_EQ(of_class(told, "Allocations$Thing", "instances"), 1000);
  EXPECT_EQ(of_class(told, "byte[]", "instances"), 100);
  EXPECT_EQ(of_class(told, "byte[]", "bytes"), 21'600);
  EXPECT_EQ(run({"stats", (*trace)->path()}).find("estimated"), std::string::npos);
}

// The files of a trace, by the counts of `stats`; `restated`: elements that each part repeats.
TEST_P(Derived, PartsOfARotatedTraceAreTheTrace) {
  for (const std::string ending : {"", ".zst"}) {
    auto jvm = JvmProcess::start(GetParam(), "Calls", attachable(GetParam()));
    ASSERT_TRUE(jvm) << jvm.error().message();
    const std::string path = folder_.file("parts.xml" + ending);
    auto trace = BackgroundCommand::start({jtrace_binary(), "attach", (*jvm)->pid_text(), "-o", path, "--events",
                                           "threads,methods,counts", "--max-size", "256K", "--rotate", "50", "--filter",
                                           "Calls include", "--filter", "* exclude", "--when-full", "block",
                                           "--block-limit", "10000"});
    ASSERT_TRUE(trace) << trace.error().message();
    ASSERT_TRUE(is_rewritten(path));
    const std::string fib = ending.empty() ? "fib 15" : "fib 21";  // the size of the compressed file counts
    double fibs = 0;
    for (const char* command : {fib.c_str(), "threads 3 5", fib.c_str()}) {
      const auto answer = (*jvm)->ask(command);
      ASSERT_TRUE(answer) << answer.error().message();
      fibs += number_in(*answer, "fib");
    }
    (*trace)->signal(SIGINT);
    const auto ended = (*trace)->wait_exit();
    ASSERT_TRUE(ended) << ended.error().message();
    ASSERT_EQ(*ended, 0) << (*trace)->err();
    std::vector<std::string> parts{path};  // newest first, which is not their order
    while (fs::exists(path + "." + std::to_string(parts.size())))
      parts.push_back(path + "." + std::to_string(parts.size()));
    ASSERT_GE(parts.size(), 3u);

    const json whole = stats(parts);
    std::map<std::string, double> sum;
    for (const std::string& part : parts) {
      const json one = stats({part});
      for (const auto& [element, count] : one["elements"].items()) sum[element] += count.get<double>();
    }
    const json& elements = whole["elements"];
    for (const char* once : {"node", "processCreate", "agentCreate", "agentDestroy", "traceStart", "traceEnd"})
      EXPECT_EQ(elements[once], 1) << once;
    for (const char* all : {"methodEntry", "methodExit", "threadEnd"})
      EXPECT_EQ(elements.value(all, 0.0), sum[all]) << all;
    for (const char* definition : {"threadStart", "classDef", "methodDef", "methodCount", "option", "filter"})
      EXPECT_LT(elements[definition].get<double>(), sum[definition]) << definition;
    double calls = 0, counted = 0;
    for (const json& row : whole["data"][0]["methods"])
      if (row["method"] == "Calls.fib") {
        calls = row["calls"];
        counted = row["counted"];
      }
    EXPECT_EQ(calls, fibs);
    EXPECT_EQ(counted, fibs);

    std::vector<std::string> arguments = parts;
    arguments.insert(arguments.begin(), "validate");
    EXPECT_THAT(run(arguments), HasSubstr(", 0 faults"));
    // One document, by convert and by merge; complete and valid.
    for (const char* command : {"convert", "merge"}) {
      const std::string out = folder_.file(std::string(command) + ".xml");
      arguments = parts;
      arguments.insert(arguments.begin(), command);
      arguments.insert(arguments.end(), {"-o", out});
      run(arguments);
      EXPECT_THAT(run({"validate", out}), HasSubstr(", 0 faults"));
      EXPECT_EQ(stats({out})["elements"], elements) << command;
    }
    arguments = parts;
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"-o", folder_.file("report.html")});
    run(arguments);
    // One part is missing; one part is given twice.
    EXPECT_THAT(run({"stats", parts[0], parts[2]}, 9), HasSubstr("a part of the trace is missing"));
    EXPECT_THAT(run({"stats", parts[0], parts[1], parts[0]}, 2), HasSubstr("are the same part of a trace"));
    for (const std::string& part : parts) fs::remove(part);
  }
}

}  // namespace
}  // namespace jtrace::test
