// Classes that were loaded but not linked when the trace began, its filters changed or it was paused: their first calls
// are recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    auto jvm = must(JvmProcess::start(GetParam(), "LateLinks", attachable(GetParam())));
    jvm_ = std::move(jvm);
  }
  void attach(const std::string& filter, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"--events", "methods,counts", "--filter", filter, "--filter", "* exclude"};
    words.insert(words.end(), more.begin(), more.end());
    auto run = must(TraceRun::start(jvm_->pid(), words));
    run_ = std::move(run);
    ASSERT_TRUE(rewritten(*run_));
  }
  void ask(const std::string& command) { must(jvm_->ask(command)); }
  void ctl(std::vector<std::string> words) {
    words.insert(words.begin(), {"ctl", jvm_->pid_text()});
    auto done = must(run_jtrace(words));
    ASSERT_EQ(done.status, 0) << done.err;
  }
  // Calls by method; fails if a class was reported as late.
  std::map<std::string, int> calls() {
    auto trace = run_->finish();
    EXPECT_TRUE(succeeded(trace));
    if (!trace) return {};
    EXPECT_TRUE(none(trace->faults()));
    EXPECT_EQ(trace->option("jtrace.late"), "");
    EXPECT_TRUE(none(call_faults(*trace)));
    const auto names = names_of_methods(*trace);
    for (const TraceElement* count : trace->all("methodCount"))
      counts_[names.at(count->get("methodIdRef"))] += static_cast<int>(count->number("count"));
    return by_method(*trace, "methodEntry");
  }

  std::unique_ptr<JvmProcess> jvm_;
  std::unique_ptr<TraceRun> run_;
  std::map<std::string, int> counts_;  // methodCount
};
JTRACE_ON_EACH_JDK(EachJdk);

TEST_P(EachJdk, TheFirstCallsAfterTheAttachAreThere) {
  ask("load");
  attach("LateLinks* include");
  for (int kind = 0; kind < 6; ++kind) ask("fail " + std::to_string(kind) + " 62");
  ask("own 62");
  auto entries = calls();
  for (int kind = 0; kind < 6; ++kind) {
    const std::string name = "LateLinks$Failure" + std::to_string(kind) + ".<init>";
    EXPECT_EQ(entries[name], 62) << name;
    EXPECT_EQ(counts_[name], 62) << name;
  }
  EXPECT_EQ(entries["LateLinks$Failure.<init>"], 6 * 62);
  EXPECT_EQ(counts_["LateLinks$Failure.<init>"], 6 * 62);
  for (const char* name : {"LateLinks$Own.<clinit>", "LateLinks$Own.first"}) {
    EXPECT_EQ(entries[name], 1) << name;
    EXPECT_EQ(counts_[name], 1) << name;
  }
  EXPECT_EQ(entries["LateLinks$Own.<init>"], 62);
  EXPECT_EQ(entries["LateLinks$Own.run"], 62);
}

// The others wait for the class's initialization, as usual.
TEST_P(EachJdk, ThreadsThatUseAClassForTheFirstTimeAtOnceLoseNothing) {
  attach("LateLinks* include", {"--when-full", "block", "--block-limit", "10000"});
  for (int kind = 0; kind < 4; ++kind) ask("race " + std::to_string(kind) + " 8 25");
  auto entries = calls();
  for (int kind = 0; kind < 4; ++kind)
    EXPECT_EQ(entries["LateLinks$Failure" + std::to_string(kind) + ".<init>"], 8 * 25) << kind;
}

TEST_P(EachJdk, NewFiltersHaveTheFirstCalls) {
  ask("load");
  attach("LateLinks nothing include");
  ctl({"filters", "LateLinks* include", "* exclude"});
  ASSERT_TRUE(rewritten(*run_, 2));
  ask("fail 1 62");
  ask("own 62");
  auto entries = calls();
  EXPECT_EQ(entries["LateLinks$Failure1.<init>"], 62);
  EXPECT_EQ(entries["LateLinks$Failure.<init>"], 62);
  EXPECT_EQ(entries["LateLinks$Own.first"], 1);
  EXPECT_EQ(entries["LateLinks$Own.run"], 62);
}

// A class that is loaded under filters that include it, and linked under others.
TEST_P(EachJdk, NewFiltersHaveNoCallsThatTheyLeaveOut) {
  attach("LateLinks* include");
  ask("load");
  ctl({"filters", "LateLinks$Failure* include", "* exclude"});
  ASSERT_TRUE(rewritten(*run_, 2));
  ask("own 5");
  ask("fail 2 62");
  auto entries = calls();
  EXPECT_EQ(entries["LateLinks$Own.<init>"], 0);
  EXPECT_EQ(entries["LateLinks$Own.run"], 0);
  EXPECT_EQ(entries["LateLinks$Failure2.<init>"], 62);
}

TEST_P(EachJdk, WhatIsLinkedWhileTheTraceIsPausedIsThereWhenItGoesOn) {
  attach("LateLinks* include");
  ctl({"pause"});
  ask("load");
  ask("fail 3 5");
  ask("own 5");
  ctl({"resume"});
  ask("fail 3 62");
  ask("own 62");
  ask("fail 4 62");
  auto entries = calls();
  EXPECT_EQ(entries["LateLinks$Failure3.<init>"], 62);
  EXPECT_EQ(entries["LateLinks$Failure4.<init>"], 62);
  EXPECT_EQ(entries["LateLinks$Own.run"], 62);
  EXPECT_EQ(counts_["LateLinks$Failure3.<init>"], 67);
  EXPECT_EQ(counts_["LateLinks$Own.run"], 67);
  EXPECT_EQ(counts_["LateLinks$Own.first"], 1);
}

}  // namespace
}  // namespace jtrace::test
