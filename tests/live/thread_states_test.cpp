// What threads that ran before the attach were doing: jtrace.threadState against what the JVM itself reports, and the
// page that shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "base/file.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

using ById = std::map<std::string, std::string>;

// "12=parked 13=native".
ById said_by_jvm(const std::string& answer) {
  ById states;
  std::istringstream words(answer);
  for (std::string word; words >> word;) states[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return states;
}

struct Traced {
  ById state;  // of each thread that has one
  ById id;     // by name
};
Traced traced(const TraceDocument& trace) {
  Traced made;
  std::string last;  // thread that was defined
  for (const TraceElement& each : trace.events()) {
    if (each.name == "threadStart") made.id[each.get("threadName")] = last = each.get("threadId");
    if (each.name != "option" || each.get("key") != "jtrace.threadState") continue;
    const std::string value = each.get("value");
    EXPECT_EQ(value.substr(0, value.find(' ')), last) << "stands after its threadStart";
    made.state[last] = value.substr(value.find(' ') + 1);
  }
  return made;
}

TEST_P(EachJdk, WhatThreadsDidAtTheAttachIsReported) {
  auto jvm = must(JvmProcess::start(GetParam(), "Standing", attachable(GetParam())));
  const auto answer = must(jvm->ask("states"));
  auto run = must(TraceRun::start(jvm->pid(), {"--events", "threads,monitors,sleeps,parks"}));
  must(jvm->ask("more 2"));
  auto trace = must(run->finish());
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(run->path()));
  Traced found = traced(trace);
  // main was answering when the JVM was asked, and reading when jtrace attached.
  EXPECT_EQ(found.state[found.id["main"]], "native");
  ById jvm_says = said_by_jvm(answer);
  jvm_says.erase(found.id["main"]);
  for (const char* name : {"deep", "sleeper", "holder", "blocked", "meeting", "dead-1", "juc-2", "Finalizer",
                           "Reference Handler", "Signal Dispatcher"}) {
    const std::string id = found.id[name];
    ASSERT_NE(id, "") << name;
    EXPECT_EQ(found.state[id], jvm_says[id]) << name;
  }
  EXPECT_EQ(found.state[found.id["deep"]], "parked");
  EXPECT_EQ(found.state[found.id["sleeper"]], "sleeping");
  EXPECT_EQ(found.state[found.id["blocked"]], "blocked");
  EXPECT_EQ(found.state[found.id["meeting"]], "waiting");
  EXPECT_THAT(found.state[found.id["Finalizer"]], AnyOf("waiting", "parked"));
  // A thread that began in the meantime had no state before.
  EXPECT_EQ(found.state.count(found.id["more-1"]), 0u);

  const ScratchDir folder;
  const std::string page = folder.file("report.html");
  const auto report = must(run_jtrace({"report", run->path(), "-o", page}));
  EXPECT_EQ(report.status, 0) << report.err;
  const std::string text = read_file(page, 1u << 26).value_or("");
  EXPECT_THAT(text, HasSubstr("\"first\":{\"state\":\"parked\""));
  EXPECT_THAT(text, HasSubstr("\"first\":{\"state\":\"native\""));
  EXPECT_THAT(text, Not(HasSubstr("running")));
  record_support(GetParam(), "G1", "live", "what threads did at the attach");
}

// In a later document a thread has its state only if it has had no event since.
TEST_P(EachJdk, WhatHasMovedSinceHasNoState) {
  auto jvm = must(JvmProcess::start(GetParam(), "Workload", attachable(GetParam())));
  auto run =
      must(TraceRun::start(jvm->pid(), {"--events", "threads,monitors", "--max-size", "256K", "--rotate", "40"}));
  for (int i = 0; i < 400 && !std::filesystem::exists(run->path() + ".1"); ++i) must(jvm->ask("wait 20"));
  auto trace = must(run->finish());
  Traced found = traced(trace);
  EXPECT_EQ(found.state.count(found.id["main"]), 0u);
  EXPECT_EQ(found.state.count(found.id["Signal Dispatcher"]), 1u);
}

}  // namespace
}  // namespace jtrace::test
