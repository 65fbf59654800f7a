// Collectors that fail or block, beside others.
#include "diagnose/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace jtrace::diagnose {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr milliseconds kLong = std::chrono::minutes(1);

Step step(const std::string& name, milliseconds budget = kLong) {
  return {name, budget,
          [name]() -> Result<Publish> { return [name](Collected& collected) { collected.missing.push_back(name); }; }};
}

const StepRecord* record_of(const Collected& collected, const std::string& name) {
  for (const StepRecord& each : collected.steps)
    if (each.name == name) return &each;
  return nullptr;
}

TEST(Lanes, PublishInTheOrderOfTheirSteps) {
  Collected collected;
  const LanesEnd end = run_lanes({{step("a"), step("b"), step("c")}}, kLong, collected);
  EXPECT_THAT(collected.missing, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(end.needed);
  EXPECT_FALSE(collected.left_behind);
  for (const StepRecord& each : collected.steps) EXPECT_EQ(each.problem, "");
}

TEST(Lanes, GoOnAfterAFailureButNotAfterThatOfANeededStep) {
  const auto failing = []() -> Result<Publish> { return fail(ErrorCategory::kPermission, "may not"); };
  Collected collected;
  const LanesEnd end = run_lanes({{{"opens", milliseconds(1000), failing, milliseconds(0), true}, step("never")},
                                  {{"fails", milliseconds(1000), failing}, step("then")}},
                                 kLong, collected);
  EXPECT_THAT(collected.missing, ElementsAre("then"));
  EXPECT_EQ(record_of(collected, "fails")->problem, "may not");
  EXPECT_THAT(record_of(collected, "never")->problem, HasSubstr("opens failed"));
  ASSERT_TRUE(end.needed);
  EXPECT_EQ(end.needed->category, ErrorCategory::kPermission);
}

TEST(Lanes, LeaveBehindWhatDoesNotAnswer) {
  // Both outlive the thread that does not end in time.
  static std::promise<void> release, released;
  Collected collected;
  const auto blocks = []() -> Result<Publish> {
    release.get_future().wait();
    released.set_value_at_thread_exit();
    return [](Collected& late) { late.missing.push_back("too late"); };
  };
  run_lanes({{{"blocks", milliseconds(30), blocks}, step("after it")}, {step("beside it")}}, kLong, collected);
  EXPECT_TRUE(collected.left_behind);
  EXPECT_THAT(collected.missing, ElementsAre("beside it"));
  EXPECT_THAT(record_of(collected, "blocks")->problem, HasSubstr("no answer within its 30 ms"));
  EXPECT_THAT(record_of(collected, "after it")->problem, HasSubstr("blocks did not answer"));
  release.set_value();
  released.get_future().wait();
  EXPECT_THAT(collected.missing, ElementsAre("beside it"));
}

// The time between two looks is that between them, however long it took to begin.
TEST(Lanes, CountTheTimeFromAStepThatStartsAnew) {
  std::chrono::steady_clock::time_point opened, begun;
  Step opening = step("opening"), later = step("later");
  opening.run = [&]() -> Result<Publish> {
    std::this_thread::sleep_for(milliseconds(60));
    opened = std::chrono::steady_clock::now();
    return [](Collected&) {};
  };
  later.run = [&]() -> Result<Publish> {
    begun = std::chrono::steady_clock::now();
    return [](Collected&) {};
  };
  later.not_before = milliseconds(100);
  opening.starts_anew = kLong;
  Collected collected;
  run_lanes({{opening, later}}, kLong, collected);
  EXPECT_GE(begun - opened, milliseconds(99));
  // No later than allowed: otherwise it would not begin within the time for everything.
  later.not_before = kLong;
  opening.starts_anew = -kLong;
  Collected limited;
  run_lanes({{opening, later}}, kLong, limited);
  EXPECT_EQ(record_of(limited, "later")->problem, "");
}

TEST(Lanes, AllEndWithTheTimeForEverything) {
  static std::promise<void> release, released;
  Collected collected;
  const auto blocks = []() -> Result<Publish> {
    release.get_future().wait();
    released.set_value_at_thread_exit();
    return [](Collected&) {};
  };
  Step later = step("later");
  later.not_before = std::chrono::hours(1);
  run_lanes({{{"blocks", kLong, blocks}}, {step("in time"), later}}, milliseconds(200), collected);
  EXPECT_TRUE(collected.left_behind);
  EXPECT_THAT(collected.missing, ElementsAre("in time"));
  EXPECT_EQ(record_of(collected, "blocks")->problem, "no answer within the 200 ms for everything");
  EXPECT_EQ(record_of(collected, "later")->problem, "not begun within the 200 ms for everything");
  release.set_value();
  released.get_future().wait();
}

TEST(Lanes, ThatOnlyWaitForTheirTimeAreNotLeftBehind) {
  Step later = step("later");
  later.not_before = std::chrono::hours(1);
  Collected collected;
  run_lanes({{later}}, milliseconds(50), collected);
  EXPECT_FALSE(collected.left_behind);
}

}  // namespace
}  // namespace jtrace::diagnose
