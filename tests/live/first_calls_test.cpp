// A trace with -agentpath has every call, line, throw and allocation of a program from its first bytecode on, with any
// combination of groups.
//
// JTRACE_FIRST_CALLS_STARTS=N: N starts of each kind instead of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// What tests/apps/Firsts does.
struct Expected {
  const char* group;
  const char* element;
  std::size_t count;
};
constexpr Expected kExpected[] = {
    {"methods", "methodEntry", 331}, {"calls", "methodCall", 440}, {"lines", "line", 1082},
    {"exceptions", "throw", 20},     {"exceptions", "catch", 10},  {"allocations", "objAlloc", 110},
};
constexpr std::size_t kCalls = 331;

constexpr const char* kGroups[] = {
    "methods",
    "counts",
    "calls",
    "lines",
    "exceptions",
    "allocations",
    "threads+classes+gc+monitors+sleeps+runtime+methods",
    "all+methods+counts+calls+lines+exceptions+allocations+parks",
};

int starts() {
  const char* wanted = std::getenv("JTRACE_FIRST_CALLS_STARTS");
  return wanted == nullptr ? 1 : std::atoi(wanted);
}

bool has_group(const std::string& groups, std::string_view group) {
  return ("+" + groups + "+").find("+" + std::string(group) + "+") != std::string::npos;
}

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (chrooted() && !JTRACE_STATIC_TOOLS) GTEST_SKIP() << "the tools of this build do not run in the chroot";
    std::ofstream(folder_.file("filters")) << "Firsts* include\n* exclude\n";
  }
  bool chrooted() const { return GetParam().root.has_value(); }
  // A file of the scratch folder as the JVM sees it.
  std::string for_jvm(const std::string& name) const { return chrooted() ? "/media/" + name : folder_.file(name); }
  std::string agent(const std::string& words) const {
    return "-agentpath:" + (chrooted() ? "/srv" : build_folder()) +
           "/lib/libjtrace_agent.so=file=" + for_jvm("trace.xml") + "," + words;
  }
  std::string agent_for(const std::string& groups) const {
    return agent("events=" + groups + ",filters=" + for_jvm("filters"));
  }
  JvmOptions options(std::vector<std::string> flags) const {
    JvmOptions made;
    made.flags = std::move(flags);
    made.wait_ready = false;
    if (chrooted())
      made.in_child = [folder = folder_.path()](const std::string& root) {
        return ::mount(build_folder().c_str(), (root + "/srv").c_str(), nullptr, MS_BIND, nullptr) == 0 &&
               ::mount(folder.c_str(), (root + "/media").c_str(), nullptr, MS_BIND, nullptr) == 0;
      };
    return made;
  }
  // The trace of one run of Firsts, which ends by itself and prints nothing.
  Result<TraceDocument> run(const std::vector<std::string>& flags, const std::string& jar = "") {
    const std::string path = folder_.file("trace.xml");
    ::unlink(path.c_str());
    JTRACE_ASSIGN_OR_RETURN(const std::string classes, compiled_app("Firsts"));
    JTRACE_ASSIGN_OR_RETURN(
        auto jvm, JvmProcess::start_classes(GetParam(), jar.empty() ? classes : jar, "Firsts", options(flags)));
    JTRACE_ASSIGN_OR_RETURN(const int status, jvm->wait_exit(std::chrono::minutes(2)));
    EXPECT_EQ(status, 0);
    EXPECT_EQ(jvm->err(), "");
    EXPECT_EQ(jvm->out(), "");
    JTRACE_RETURN_IF_ERROR(wait_for_bytes(path, "</TRACE>", std::chrono::seconds(60), [] { return true; }));
    return TraceDocument::read(path);
  }
  // `more`: calls in addition to the program's.
  static ::testing::AssertionResult has_all(const TraceDocument& trace, const std::string& groups, int more = 0) {
    std::vector<std::string> faults;
    const auto expect = [&](const std::string& what, std::size_t wanted, std::size_t found) {
      if (wanted != found) faults.push_back(what + ": " + std::to_string(found) + " of " + std::to_string(wanted));
    };
    for (const Expected& each : kExpected) {
      const bool is_call = std::string_view(each.element) == "methodEntry";
      if (has_group(groups, each.group))
        expect(each.element, each.count + static_cast<std::size_t>(is_call ? more : 0), trace.count(each.element));
    }
    std::size_t counted = 0;
    for (const TraceElement* each : trace.all("methodCount")) counted += each->number("count");
    if (has_group(groups, "counts")) expect("methodCount", kCalls + static_cast<std::size_t>(more), counted);
    return none(faults);
  }

  ScratchDir folder_;
};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, NothingOfAProgramIsMissedWithAnyGroups) {
  int missing = 0;
  for (const std::string groups : kGroups) {
    SCOPED_TRACE(groups);
    for (int i = 0; i < starts(); ++i) {
      auto trace = must(run({agent_for(groups)}));
      EXPECT_TRUE(none(trace.faults())) << groups;
      const auto all_there = has_all(trace, groups);
      EXPECT_TRUE(all_there) << groups << ", start " << i;
      missing += !all_there;
      EXPECT_EQ(trace.option("jtrace.late"), "") << groups;
    }
  }
  RecordProperty("missing", missing);
  record_support(GetParam(), "G1", "startup", "every call from the first one on");
}

TEST_P(EachJdk, NothingIsMissedByTheInterpreterAndWithPreciseTime) {
  const std::string groups = kGroups[7];
  auto interpreted = must(run({"-Xint", agent_for(groups)}));
  EXPECT_TRUE(has_all(interpreted, groups));
  auto precise = must(run({agent_for(groups) + ",time=precise"}));
  EXPECT_TRUE(has_all(precise, groups));
}

// Classes from an archive; JDK 25 and later load them before any agent is notified.
TEST_P(EachJdk, NothingIsMissedOfClassesOutOfAnArchive) {
  if (chrooted() || GetParam().version < 13) GTEST_SKIP() << "no archive of a program's classes here";
  auto classes = must(compiled_app("Firsts"));
  const std::string jar = folder_.file("app.jar");
  auto packed = must(run_command({GetParam().host_path("bin/jar"), "cf", jar, "-C", classes, "."}));
  ASSERT_EQ(packed.status, 0) << packed.err;
  const bool is_aot = GetParam().version >= 25;
  const std::string archive = folder_.file("archive");
  auto made = must(run_command({GetParam().host_path("bin/java"),
                                (is_aot ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + archive, "-Xmx256m",
                                "-cp", jar, "Firsts"}));
  ASSERT_EQ(made.status, 0) << made.err;
  for (const char* groups : {kGroups[1], kGroups[6], kGroups[7]}) {
    SCOPED_TRACE(groups);
    auto trace = must(run({(is_aot ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + archive, agent_for(groups)}, jar));
    EXPECT_TRUE(has_all(trace, groups)) << groups;
    EXPECT_EQ(trace.option("jtrace.late"), "") << groups;
  }
}

class BesideAnAgent : public EachJdk {
 protected:
  void SetUp() override {
    EachJdk::SetUp();
    if (IsSkipped()) return;
    auto classes = must(compiled_source("Beside",
                                        "public class Beside { public static void premain(String a) throws Exception {"
                                        " java.lang.reflect.Method m = ClassLoader.getSystemClassLoader()"
                                        ".loadClass(\"Firsts$Helper\").getDeclaredMethod(\"help\", int.class);"
                                        " m.setAccessible(true); for (int i = 0; i < 3; i++) m.invoke(null, i); } }"));
    std::ofstream(folder_.file("manifest")) << "Premain-Class: Beside\n";
    const auto jdk =
        std::find_if(jdks().begin(), jdks().end(), [](const Jdk& each) { return !each.root && each.has_javac(); });
    if (jdk == jdks().end()) GTEST_SKIP() << "no JDK outside of the tree makes the agent's jar";
    auto packed = must(run_command({jdk->host_path("bin/jar"), "cfm", folder_.file("beside.jar"),
                                    folder_.file("manifest"), "-C", classes, "Beside.class"}));
    ASSERT_EQ(packed.status, 0) << packed.err;
  }
  std::string java_agent() const { return "-javaagent:" + for_jvm("beside.jar"); }
};
JTRACE_ON_EACH_JDK(BesideAnAgent);

TEST_P(BesideAnAgent, WhatALaterAgentCallsIsThere) {
  auto trace = must(run({agent_for("methods+counts+runtime"), java_agent()}));
  EXPECT_TRUE(has_all(trace, "methods+counts", 3));
  EXPECT_EQ(trace.option("jtrace.late"), "");
}

// This call was before the agent could be on: its class is named.
TEST_P(BesideAnAgent, WhatAnEarlierAgentHasCalledIsNamed) {
  auto trace = must(run({java_agent(), agent_for("methods+counts+runtime")}));
  EXPECT_TRUE(has_all(trace, "methods+counts"));
  EXPECT_EQ(trace.option("jtrace.late"), "Firsts$Helper: had run before the trace began");
}

// Without filters: classes of the JDK have run before, and are named. The thread that ends the JVM makes calls before
// it has an id.
TEST_P(EachJdk, AProgramOfWhichAllIsCountedEndsWell) {
  for (const std::string words : {"events=counts", "events=methods,slower-than=10ms"}) {
    auto trace = must(run({agent(words)}));
    std::string late;
    for (const TraceElement* each : trace.all("option"))
      if (each->get("key") == "jtrace.late") late += each->get("value") + "\n";
    EXPECT_THAT(late, ContainsRegex("java/lang/String[,:]"));
    EXPECT_THAT(late, HasSubstr(": had run before the trace began"));
    EXPECT_EQ(late.find("Firsts"), std::string::npos) << late;
    const std::map<std::string, std::string> methods = names_of_methods(trace);
    std::uint64_t counted = 0;
    for (const TraceElement* each : trace.all("methodCount"))
      if (methods.at(each->get("methodIdRef")).starts_with("Firsts")) counted += each->number("count");
    EXPECT_EQ(counted, words == "events=counts" ? kCalls : 0) << words;
  }
}

}  // namespace
}  // namespace jtrace::test
