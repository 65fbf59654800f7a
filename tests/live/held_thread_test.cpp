// A JVM with a thread that has another tracer: the other threads are shown completely, the traced one by name with what
// can be read of it, and nothing changes for anybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/thread_holder.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

CommandOutput run(const std::vector<std::string>& words) {
  const auto done = run_jtrace(words, {.timeout = std::chrono::minutes(2)});
  return done ? *done : CommandOutput{.err = done.error().message()};
}

json rows_of(const CommandOutput& done) {
  EXPECT_TRUE(json::accept(done.out)) << done.out << done.err;
  return json::accept(done.out) ? json::parse(done.out) : json::object({{"data", json::array()}});
}

json row_of(const json& document, const std::string& name) {
  for (const json& row : document["data"])
    if (row["name"] == name) return row;
  return json::object({{"frames", json::array()}});
}

std::vector<std::string> java_frames(const json& row) {
  std::vector<std::string> frames;
  for (const json& frame : row["frames"])
    if (frame.contains("method"))
      frames.push_back(frame["class"].get<std::string>() + "." + frame["method"].get<std::string>());
  return frames;
}

class HeldThread : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    auto jvm = must(JvmProcess::start(GetParam(), "PlainFacts", {.flags = {"-Xmx32m"}}));
    jvm_ = std::move(jvm);
    must(jvm_->ask("spin"));
    whole_ = rows_of(run({"stack", jvm_->pid_text(), "--format", "json"}));
  }
  std::unique_ptr<ThreadHolder> hold_thread(const std::string& name, bool stopped) {
    const json row = row_of(whole_, name);
    tid_ = row.value("nativeId", 0);
    auto held = ThreadHolder::hold(tid_, stopped);
    EXPECT_TRUE(succeeded(held)) << name;
    return held ? std::move(*held) : nullptr;
  }
  // The line about the thread that every command prints to stderr.
  std::string named(const std::string& name) const {
    return "thread \"" + name + "\" (" + std::to_string(tid_) + ") is held by another tracer, process " +
           std::to_string(::getpid()) + " (";
  }
  void expect_unharmed() {
    EXPECT_TRUE(jvm_->alive());
    EXPECT_TRUE(succeeded(jvm_->ask("spin")));
    EXPECT_EQ(jvm_->err(), "");
  }

  std::unique_ptr<JvmProcess> jvm_;
  json whole_;  // its threads when no thread had a tracer
  pid_t tid_ = 0;
};
JTRACE_ON_EACH_JDK(HeldThread);

TEST_P(HeldThread, ThatStandsIsShownWithItsJavaFramesAndTheOthersWhole) {
  const json before = row_of(whole_, "parked");
  {
    const auto holder = hold_thread("parked", true);
    ASSERT_TRUE(holder);
    for (const std::vector<std::string>& words : {std::vector<std::string>{"stack", jvm_->pid_text()},
                                                  {"inspect", jvm_->pid_text(), "threads"},
                                                  {"stack", jvm_->pid_text(), "--max-pause", "1"}}) {
      auto as_json = words;
      as_json.insert(as_json.end(), {"--format", "json"});
      const CommandOutput done = run(as_json);
      EXPECT_EQ(done.status, 9) << words[0] << done.err;
      EXPECT_THAT(done.err, HasSubstr(named("parked")));
      const json document = rows_of(done);
      EXPECT_EQ(document["complete"], false);
      const json held = row_of(document, "parked");
      EXPECT_EQ(held["heldBy"]["pid"], ::getpid()) << held;
      EXPECT_EQ(java_frames(held), java_frames(before));
      EXPECT_GE(java_frames(held).size(), 4u);
      EXPECT_EQ(java_frames(row_of(document, "main")), java_frames(row_of(whole_, "main")));
      EXPECT_GE(document["data"].size(), whole_["data"].size() - 3) << "of the VM's own threads some come and go";
    }
    const CommandOutput text = run({"stack", jvm_->pid_text()});
    EXPECT_THAT(text.out, AllOf(HasSubstr("    - held by another tracer, process " + std::to_string(::getpid())),
                                HasSubstr("PlainFacts.hold(")));
  }
  const CommandOutput after = run({"stack", jvm_->pid_text()});
  EXPECT_EQ(after.status, 0) << after.err;
  expect_unharmed();
}

TEST_P(HeldThread, ThatSpinsStandsOrGoesOnAndIsNamed) {
  for (const bool stopped : {true, false}) {
    const auto holder = hold_thread("spinner", stopped);
    ASSERT_TRUE(holder);
    const CommandOutput done = run({"stack", jvm_->pid_text(), "--format", "json"});
    EXPECT_EQ(done.status, 9) << done.err;
    EXPECT_THAT(done.err, HasSubstr(named("spinner")));
    const json document = rows_of(done);
    const json held = row_of(document, "spinner");
    EXPECT_EQ(held["heldBy"]["pid"], ::getpid());
    // The frames that are shown are right, even if they are not all.
    for (const std::string& frame : java_frames(held))
      EXPECT_THAT(frame, ::testing::AnyOf(::testing::StartsWith("PlainFacts"), "java.lang.Thread.run",
                                          "java.lang.Thread.runWith"));
    EXPECT_EQ(java_frames(row_of(document, "parked")), java_frames(row_of(whole_, "parked")));
  }
  expect_unharmed();
}

TEST_P(HeldThread, DoesNotKeepProfileAndTopFromTheOthers) {
  const auto holder = hold_thread("parked", true);
  ASSERT_TRUE(holder);
  const CommandOutput cpu =
      run({"profile", jvm_->pid_text(), "--ptrace", "--duration", "0.5", "--max-share", "50", "-o", "-"});
  EXPECT_EQ(cpu.status, 9) << cpu.err;
  EXPECT_THAT(cpu.out, HasSubstr("spinner;"));
  EXPECT_THAT(cpu.err, HasSubstr("parked"));
  const CommandOutput wall = run({"profile", jvm_->pid_text(), "--ptrace", "--wall", "--hz", "5", "--duration", "0.5",
                                  "--max-share", "50", "-o", "-"});
  EXPECT_EQ(wall.status, 9) << wall.err;
  EXPECT_THAT(wall.out, HasSubstr("PlainFacts.hold"));
  EXPECT_THAT(wall.err, HasSubstr(named("parked")));
  const CommandOutput told = run({"profile", jvm_->pid_text(), "--ptrace", "--wall", "--hz", "5", "--duration", "0.5",
                                  "--max-share", "50", "--format", "json"});
  EXPECT_EQ(told.status, 9) << told.err;
  const json profile = json::parse(told.out, nullptr, false);
  ASSERT_TRUE(profile.is_object()) << told.out;
  EXPECT_EQ(profile["complete"], false);
  EXPECT_THAT(profile["missing"].dump(), HasSubstr("parked"));
  // Samples by the kernel stop no thread, so that one that another tracer holds is none of their business.
  const CommandOutput sampled = run({"profile", jvm_->pid_text(), "--wall", "--duration", "0.5", "-o", "-"});
  EXPECT_THAT(sampled.status, ::testing::AnyOf(0, 9)) << sampled.err;
  EXPECT_THAT(sampled.out, HasSubstr("spinner;"));
  for (const bool stops : {true, false}) {
    std::vector<std::string> words = {"top", jvm_->pid_text(), "--count", "1",        "--interval",
                                      "0.3", "--rows",         "100",     "--format", "json"};
    if (stops) words.emplace_back("--ptrace");
    const CommandOutput top = run(words);
    if (stops) EXPECT_EQ(top.status, 9) << top.err;
    else EXPECT_THAT(top.status, ::testing::AnyOf(0, 9)) << top.err;
    EXPECT_EQ(top.err.find(named("parked")) != top.err.npos, stops) << top.err;
    EXPECT_GT(row_of(rows_of(top), "spinner").value("cpuShare", 0.0), 0.0);
    EXPECT_THAT(row_of(rows_of(top), "parked").value("frame", ""), HasSubstr("Unsafe.park"));
  }
}

// All threads, as with gdb.
TEST_P(HeldThread, IsEachOneWhereADebuggerHasTheProcess) {
  std::vector<std::unique_ptr<ThreadHolder>> holders;
  for (const json& row : whole_["data"]) {
    if (!row.contains("nativeId")) continue;
    if (auto holder = ThreadHolder::hold(row["nativeId"].get<pid_t>(), true)) holders.push_back(std::move(*holder));
  }
  ASSERT_GE(holders.size(), 10u);
  const CommandOutput done = run({"stack", jvm_->pid_text(), "--format", "json"});
  EXPECT_EQ(done.status, 9) << done.err;
  EXPECT_THAT(done.err, HasSubstr(" are held by another tracer, process " + std::to_string(::getpid())));
  const json document = rows_of(done);
  for (const char* name : {"parked", "main"})
    EXPECT_EQ(java_frames(row_of(document, name)), java_frames(row_of(whole_, name))) << name;
  holders.clear();
  expect_unharmed();
}

}  // namespace
}  // namespace jtrace::test
