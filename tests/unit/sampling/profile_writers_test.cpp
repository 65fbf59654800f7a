// Samples merged, and what is written of them.
#include "sampling/profile_writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace jtrace::sampling {
namespace {

using ::testing::HasSubstr;
using json = nlohmann::json;

coreinspect::ThreadReport report(std::vector<std::string> innermost_first, std::string cut = "") {
  coreinspect::ThreadReport report;
  report.name = "main;1";
  for (std::string& name : innermost_first) {
    coreinspect::Frame frame{.kind = coreinspect::FrameKind::kNative};
    frame.name = std::move(name);
    report.walk.frames.push_back(std::move(frame));
  }
  report.walk.stopped = std::move(cut);
  return report;
}

ProfileCounts three_stacks() {
  ProfileCounts counts;
  counts.add(report({"read", "loop", "start"}), 10);
  counts.add(report({"read", "loop", "start"}), 10);
  counts.add(report({"loop", "loop", "start"}), 10);
  counts.add(report({"</script>"}, "lost"), 10);
  return counts;
}

TEST(ProfileWriters, MergeEqualStacks) {
  EXPECT_EQ(collapsed_text(three_stacks()),
            "main,1;[cut stack];</script> 1\nmain,1;start;loop;loop 1\nmain,1;start;loop;read 2\n");
}

TEST(ProfileWriters, GiveSpeedscopeWeightsThatAddUp) {
  const json file = json::parse(speedscope_json(three_stacks(), {.title = "t"}));
  ASSERT_EQ(file["profiles"].size(), 1u);
  const json& profile = file["profiles"][0];
  EXPECT_EQ(profile["name"], "main,1");
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["endValue"], 40);
  ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
  for (const json& sample : profile["samples"])
    for (const json& frame : sample) EXPECT_LT(frame.get<std::size_t>(), file["shared"]["frames"].size());
}

TEST(ProfileWriters, CountAFrameOnceInATotal) {
  const std::string table = profile_table(three_stacks(), 10);
  EXPECT_THAT(table, HasSubstr("  50.0 %    50.0 %  read\n"));
  EXPECT_THAT(table, HasSubstr("  25.0 %    75.0 %  loop\n")) << "it is twice in one stack";
  EXPECT_THAT(table, HasSubstr(" 100.0 %  main,1\n"));
}

TEST(ProfileWriters, PutTheDataIntoThePageSafely) {
  const std::string page = profile_page(three_stacks(), {.title = "profile of 7", .process = "java", .pid = 7});
  EXPECT_THAT(page, HasSubstr("profile of 7"));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>")) << "a name cannot end the script";
  EXPECT_EQ(page.find("@DATA@"), page.npos);
}

}  // namespace
}  // namespace jtrace::sampling
