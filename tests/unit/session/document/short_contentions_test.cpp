#include "session/document/short_contentions.h"

#include "tests/unit/session/document/event_builder_fixture.h"
#include "trace/option_keys.h"

namespace jtrace::session {
namespace {

constexpr std::uint64_t kMicro = 1000, kMilli = 1'000'000;

// With a least time of 1 ms.
class ShortOnes : public EventBuilderTest {
 protected:
  ShortOnes()
      : EventBuilderTest(
            {.events = record::kThreadStartEvent | record::kMonContendedEnterEvent | record::kMonContendedEnteredEvent,
             .min_contention = kMilli}) {
    for (const std::uint64_t thread : {1u, 2u, 3u}) define(record::thread_definition(thread, 1, "worker"));
    define(record::class_definition(5, 1, "Lshop/Stock;"));
    for (const std::uint64_t object : {4u, 6u}) define(record::object_definition(object, 1, 5, 16));
  }
  void enter(std::uint64_t thread, std::uint64_t time, std::uint64_t object = 4) {
    event(RecordKind::kMonContendedEnter, time, record::MonitorRecord{.thread = thread, .object = object});
  }
  void entered(std::uint64_t thread, std::uint64_t time, std::uint64_t object = 4, std::uint16_t flags = 0) {
    event(RecordKind::kMonContendedEntered, time, record::MonitorRecord{.thread = thread, .object = object}, flags);
  }
  // "+THREAD" for each monContendedEnter, "-THREAD" for each monContendedEntered.
  Names story() const {
    Names found;
    for (const trace::Event& each : capture_.events()) {
      if (const auto* begin = std::get_if<trace::MonContendedEnter>(&each))
        found.push_back("+" + std::to_string(begin->threadIdRef.value()));
      if (const auto* end = std::get_if<trace::MonContendedEntered>(&each))
        found.push_back("-" + std::to_string(end->threadIdRef.value()));
    }
    return found;
  }
  Names counted() const {
    Names found;
    for (const trace::Option& option : capture_.all<trace::Option>())
      if (option.key.view() == trace::kShortContentionsKey) found.emplace_back(option.value.view());
    return found;
  }
};

TEST_F(ShortOnes, ShortOnesAreCountedAndNotWritten) {
  enter(1, 10 * kMilli);
  entered(1, 10 * kMilli + 300 * kMicro);
  enter(2, 20 * kMilli, 6);
  entered(2, 20 * kMilli + kMilli - 1, 6);
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(story(), Names());
  EXPECT_EQ(counted(), Names{"count=2,total=0.001299999,class=shop/Stock"});
  EXPECT_EQ(capture_.all<trace::ObjDef>().size(), 0u) << "nothing refers to their monitors";
}

// A thread that began to contend before its state was read: the state is that of a contention which is left out.
TEST_F(ShortOnes, AThreadThatIsInOneHasNoStateOfBefore) {
  constexpr auto kBlocked = record::thread_flags(record::kThreadRanBefore, record::ThreadWas::kBlocked);
  for (const std::uint64_t thread : {7u, 8u})
    define(record::thread_definition(thread, 10 * kMilli, "before", kBlocked));
  enter(7, 9 * kMilli);
  entered(7, 9 * kMilli + 300 * kMicro);
  EXPECT_TRUE(builder_.restart(10 * kMilli));
  Names states;
  for (const trace::Option& option : capture_.all<trace::Option>())
    if (option.key.view() == trace::kThreadStateKey) states.emplace_back(option.value.view());
  EXPECT_EQ(states, Names{"8 blocked"});
}

TEST_F(ShortOnes, OneOfTheLeastTimeIsWrittenWithItsOwnTimes) {
  enter(1, 10 * kMilli);
  entered(1, 11 * kMilli);
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(story(), (Names{"+1", "-1"}));
  EXPECT_EQ(capture_.all<trace::MonContendedEnter>()[0].time.ns(), 5'000'000'000 + 10 * kMilli);
  EXPECT_EQ(counted(), Names());
}

// A watcher sees who is blocked before it is over.
TEST_F(ShortOnes, TheBeginIsWrittenWhenItHasLastedTheLeastTime) {
  enter(1, 10 * kMilli);
  EXPECT_TRUE(builder_.on_time(11 * kMilli - 1));
  EXPECT_EQ(story(), Names());
  EXPECT_TRUE(builder_.on_time(11 * kMilli));
  EXPECT_EQ(story(), Names{"+1"});
  entered(1, 50 * kMilli);
  EXPECT_EQ(story(), (Names{"+1", "-1"}));
}

TEST_F(ShortOnes, OneThatIsOpenAtTheEndIsWritten) {
  enter(1, 10 * kMilli);
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(story(), Names{"+1"});
  EXPECT_EQ(counted(), Names());
}

TEST_F(ShortOnes, WhatComesMeanwhileStaysInItsOrder) {
  enter(1, 10 * kMilli);
  event(RecordKind::kGcStart, 10 * kMilli + 1, record::ThreadRecord{.thread = 3});
  enter(2, 10 * kMilli + 2);
  entered(1, 10 * kMilli + 3);
  EXPECT_EQ(capture_.all<trace::GcStart>().size(), 1u) << "nothing before it is undecided";
  event(RecordKind::kThreadEnd, 10 * kMilli + 4, record::ThreadRecord{.thread = 3});
  EXPECT_EQ(capture_.all<trace::ThreadEnd>().size(), 0u);
  EXPECT_TRUE(builder_.on_time(11 * kMilli + 2));
  EXPECT_EQ(story(), Names{"+2"});
  EXPECT_EQ(names().back(), "threadEnd");
}

TEST_F(ShortOnes, WhoseEndMayBeLostIsWritten) {
  enter(1, 10 * kMilli);
  enter(2, 10 * kMilli + 1, 6);
  event(RecordKind::kGap, 10 * kMilli + 10, record::GapRecord{.thread = 1, .from = 10 * kMilli}, 0, 3);
  EXPECT_EQ(story(), Names{"+1"});
  entered(2, 10 * kMilli + 11, 6);
  entered(1, 10 * kMilli + 12);
  EXPECT_EQ(story(), (Names{"+1", "-1"}));
  enter(1, 10 * kMilli + 20);
  enter(1, 10 * kMilli + 30, 6);  // the end of the one before did not come
  EXPECT_EQ(story(), (Names{"+1", "-1", "+1"}));
  event(RecordKind::kGap, 10 * kMilli + 40, record::GapRecord{.thread = 0}, 0, 3);
  EXPECT_EQ(story(), (Names{"+1", "-1", "+1", "+1"}));
}

TEST_F(ShortOnes, ItsEndDuringAPauseCounts) {
  enter(1, 10 * kMilli);
  entered(1, 10 * kMilli + 7, 4, record::kWhilePaused);
  entered(2, 10 * kMilli + 8, 4, record::kWhilePaused);  // began in the pause
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(story(), Names());
  EXPECT_EQ(counted(), Names{"count=1,total=0.000000007,class=shop/Stock"});
}

TEST_F(ShortOnes, AnEndWithoutABeginIsWritten) {
  entered(1, 10 * kMilli);
  enter(2, 20 * kMilli);
  entered(2, 20 * kMilli + 10, 6);  // of another monitor: something between them is missing
  EXPECT_EQ(story(), (Names{"-1", "+2", "-2"}));
}

TEST_F(ShortOnes, CountsAreOfTheTimeSinceTheLastOnes) {
  enter(1, 10 * kMilli);
  entered(1, 10 * kMilli + 7);
  EXPECT_TRUE(builder_.write_short_contentions());
  enter(1, 20 * kMilli, 9);
  entered(1, 20 * kMilli + 8, 9);
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(counted(), (Names{"count=1,total=0.000000007,class=shop/Stock", "count=1,total=0.000000008"}));
}

}  // namespace
}  // namespace jtrace::session
