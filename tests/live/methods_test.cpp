// methodEntry, methodExit, line, throw and catch by rewritten bytecode: their numbers against the program's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/live/method_calls.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, CountsAreWhatTheProgramDid) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "methods,exceptions,lines"}, kOnlyCalls));
  jvm.wait_rewritten();
  long fibs = jvm.sum_of("fib", {"fib 15", "threads 4 12"});
  jvm.ask_each({"everything 50", "constructors 40", "throws 10"});
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  auto entries = by_method(trace, "methodEntry");
  EXPECT_EQ(entries, by_method(trace, "methodExit"));
  EXPECT_EQ(entries["Calls.fib"], fibs);
  EXPECT_EQ(entries["Calls.everything"], 50);
  EXPECT_EQ(entries["Calls$Derived.<init>"], 40);
  EXPECT_EQ(entries["Calls$Base.<init>"], 40);
  EXPECT_EQ(entries["Calls.construct"], 1);
  EXPECT_EQ(entries["Calls.catcher"], 10);
  EXPECT_EQ(entries["Calls.thrower"], 40);
  EXPECT_EQ(entries["Calls.implicit"], 10);
  EXPECT_EQ(entries["Calls.answer"], 5);
  // Base refuses 10 of 40 constructions; there is one throw for each frame that is passed, the catching one included.
  auto throws = by_method(trace, "throw");
  EXPECT_EQ(throws["Calls.thrower"], 40);
  EXPECT_EQ(throws["Calls.catcher"], 10);
  EXPECT_EQ(throws["Calls.implicit"], 10);
  EXPECT_EQ(throws["Calls.implicitCatcher"], 10);
  EXPECT_EQ(throws["Calls$Base.<init>"], 10);
  EXPECT_EQ(throws["Calls.construct"], 10);
  auto catches = by_method(trace, "catch");
  EXPECT_EQ(catches["Calls.catcher"], 10);
  EXPECT_EQ(catches["Calls.implicitCatcher"], 10);
  EXPECT_EQ(catches["Calls.construct"], 10);
  EXPECT_EQ(by_method(trace, "line")["Calls.fib"], fibs);  // one line
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "methods, exceptions and lines");

  // No callout is left in the code: a trace that would see one sees nothing.
  auto second = must(
      TraceRun::start(jvm.pid(), {"--events", "methods", "--filter", "NoSuchClass include", "--filter", "* exclude"}));
  ASSERT_TRUE(rewritten(*second));
  jvm.ask("fib 15");
  auto empty = must(second->finish());
  EXPECT_EQ(empty.count("methodEntry") + empty.count("methodExit"), 0u);
  EXPECT_THAT(empty.option("jtrace.rewritten"), HasSubstr("classes=0,"));
}

TEST_P(EachJdk, FiltersAreReplacedWhileItRuns) {
  TracedJvm jvm(GetParam(), "Calls",
                {"--events", "methods", "--time", "precise", "--filter", "Calls fib include", "--filter", "* exclude"});
  jvm.wait_rewritten();
  jvm.ask_each({"fib 10", "everything 5"});
  auto changed = must(run_jtrace({"ctl", jvm.pid_text(), "filters", "Calls everything include", "* exclude"}));
  ASSERT_EQ(changed.status, 0) << changed.err;
  jvm.wait_rewritten(2);
  jvm.ask_each({"fib 10", "everything 7"});
  jvm.ctl({"pause"});
  jvm.ask("everything 100");
  EXPECT_EQ(run_jtrace({"ctl", jvm.pid_text(), "count"})->status, 1);
  jvm.ctl({"resume"});
  jvm.ask("everything 3");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  auto entries = by_method(trace, "methodEntry");
  EXPECT_EQ(entries["Calls.fib"], 177);
  EXPECT_EQ(entries["Calls.everything"], 10);
  EXPECT_EQ(entries.size(), 2u);
}

TEST_P(EachJdk, TheWholeJdkIsTracedAndGoesOnAsBefore) {
  // Virtual threads hand over objects that are known only while they are allocated.
  const bool has_virtual = GetParam().version >= 21;
  std::vector<std::string> words{"--when-full", "block", "--block-limit", "10000", "--events"};
  words = with(std::move(words), has_virtual ? std::vector<std::string>{"methods,exceptions,allocations", "--objects"}
                                             : std::vector<std::string>{"methods,exceptions"});
  TracedJvm jvm(GetParam(), "Calls", words);
  jvm.wait_rewritten();
  std::vector<std::string> commands{"fib 5", "throws 3", "threads 3 5"};
  if (has_virtual) commands.push_back("virtual 200 5");
  long fibs = jvm.sum_of("fib", commands);
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_TRUE(none(call_faults(trace)));
  EXPECT_EQ(by_method(trace, "methodEntry")["Calls.fib"], fibs);
  EXPECT_EQ(by_method(trace, "methodExit")["Calls.fib"], fibs);
  EXPECT_THAT(trace.option("jtrace.rewritten"), HasSubstr("refusedClasses=0,"));
  EXPECT_THAT(trace.option("jtrace.rewritten"), HasSubstr("unreadable=0"));
  EXPECT_EQ(jvm.err(), "");
  EXPECT_TRUE(succeeded(jvm.process().ask("fib 5")));
}

// On a full stack every call fails, those of callouts too; the handler of a synchronized block covers itself.
TEST_P(EachJdk, FullStacksRunEmpty) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  for (const char* events : {"methods,exceptions,lines", "calls,lines"}) {
    SCOPED_TRACE(events);
    auto run = must(TraceRun::start(jvm->pid(), with({"--events", events}, kOnlyCalls)));
    ASSERT_TRUE(rewritten(*run));
    auto answer = must(jvm->ask("overflows 8"));
    EXPECT_EQ(value_in(answer, "overflows"), 8);
    EXPECT_TRUE(succeeded(run->stop())) << events;
  }
  EXPECT_EQ(jvm->err(), "");
}

TEST_P(EachJdk, ComesAndGoesWhileTheProgramRuns) {
  auto jvm = must(JvmProcess::start(GetParam(), "Calls", attachable(GetParam())));
  must(jvm->ask("spin 1"));
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE("trace " + std::to_string(i));
    auto run = must(TraceRun::start(jvm->pid(), {"--events", "methods", "--filter", "Calls* include", "--filter",
                                                 "* exclude", "--max-size", "1M"}));
    auto status = must(run->command().wait_exit());  // at --max-size
    EXPECT_THAT(status, ::testing::AnyOf(0, 9)) << run->command().err();
    auto trace = must(run->document());
    EXPECT_GT(trace.count("methodEntry"), 1000u);
    EXPECT_TRUE(none(call_faults(trace))) << i;
  }
  must(jvm->ask("spin 0"));
  auto answer = must(jvm->ask("fib 10"));
  EXPECT_EQ(answer, "fib=177");
  EXPECT_EQ(jvm->err(), "");
}

}  // namespace
}  // namespace jtrace::test
