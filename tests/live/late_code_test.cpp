// Frames of code that the JVM compiles after the walker has read its code cache are recognised, on every JDK found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/live/plain_facts.h"
#include "tests/live/probe_run.h"

namespace jtrace::test {
namespace {

class LateCode : public PlainFacts {};
JTRACE_ON_EACH_JDK(LateCode);

// A code cache that is committed in small steps, filled by a JVM that compiles methods at their first run.
std::vector<std::string> young_flags(const Jdk& jdk, bool segmented) {
  std::vector<std::string> flags{"-Xcomp",
                                 "-XX:TieredStopAtLevel=1",
                                 "-Xmx64m",
                                 "-XX:InitialCodeCacheSize=64k",
                                 "-XX:CodeCacheExpansionSize=64k",
                                 "-XX:ReservedCodeCacheSize=240m"};
  if (jdk.version >= 9) flags.push_back(segmented ? "-XX:+SegmentedCodeCache" : "-XX:-SegmentedCodeCache");
  return flags;
}

TEST_P(LateCode, HasItsFrames) {
  for (const bool segmented : {true, false}) {
    if (segmented && GetParam().version < 9) continue;
    start(young_flags(GetParam(), segmented));
    ASSERT_TRUE(jvm_);
    auto top = must(BackgroundCommand::start(
        {jtrace_binary(), "top", jvm_->pid_text(), "--interval", "0.3", "--format", "json", "--rows", "1000"}));
    ASSERT_TRUE(top->wait_out_line("{", std::chrono::seconds(60))) << top->err();
    must(jvm_->ask("late"));
    // Several samples, because a thread may be at a place where its frame is being made.
    std::size_t looks = 0, spins = 0, parks = 0;
    while (looks < 6) {
      const auto line = top->wait_out_line("{", std::chrono::seconds(60));
      ASSERT_TRUE(line) << top->err();
      const json table = json::parse(*line);
      bool there = false;
      for (const json& row : table["data"]) {
        if (row["name"] != "late") continue;
        there = true;
        spins += row.value("frame", "").starts_with("PlainFacts.late");
      }
      for (const json& row : table["data"])
        if (there && row["name"] == "late-park") parks += !row.value("frame", "").empty();
      looks += there;
    }
    EXPECT_GE(spins, 4u) << "of " << looks << (segmented ? ", segmented" : "");
    EXPECT_GE(parks, 4u) << "of " << looks;
    top->signal(SIGINT);
    must(top->wait_exit());
  }
}

TEST_P(LateCode, HasItsFramesInTheStacksOfProbes) {
  NEED_PROBES(GetParam());
  start(young_flags(GetParam(), true));
  ASSERT_TRUE(jvm_);
  const ScratchDir folder;
  const std::string path = folder.file("probe.xml");
  START_PROBE(probe, {jvm_->pid_text(), "thread__park__begin", "--stack", "-o", path});
  must(jvm_->ask("initialise"));  // parks: the walker reads the code cache for its stack
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  must(jvm_->ask("late"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  stop(probe);
  const auto trace = must(TraceDocument::read(path));
  std::size_t parks = 0, whole = 0;
  for (const TraceElement* option : trace.all("option")) {
    const std::string value = option->get("value");
    if (option->get("key") != "jtrace.stack" || value.find("parkNanos") == value.npos) continue;
    ++parks;
    whole += value.find("PlainFacts.latePark:") != value.npos && value.find(";...") == value.npos;
  }
  EXPECT_GE(parks, 3u);
  EXPECT_EQ(whole, parks);
  EXPECT_EQ(jvm_->err(), "");
}

}  // namespace
}  // namespace jtrace::test
