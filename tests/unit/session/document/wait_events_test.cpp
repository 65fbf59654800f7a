// Waits: what belongs together, and how long it took.
#include "session/document/wait_events.h"

#include "tests/unit/session/document/event_builder_fixture.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

constexpr std::uint64_t kMilli = 1'000'000;

TEST_F(EventBuilderTest, WaitedHasItsLength) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4, .argument = 5000});
  event(RecordKind::kMonWaited, 250 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kTimedOut);
  EXPECT_EQ(capture_.all<trace::MonWait>()[0].timeout, 5000u);
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].timeout, 240u);
}

class Waits : public EventBuilderTest {
 protected:
  Waits() : EventBuilderTest({.events = record::kMonWaitEvent | record::kMonWaitedEvent}) {}
};

TEST_F(Waits, WhatBeganBeforeAPauseEndsInIt) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  event(RecordKind::kMonContendedEnter, 10 * kMilli, record::MonitorRecord{.thread = 2, .object = 5});
  event(RecordKind::kMonWaited, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kWhilePaused);
  event(RecordKind::kMonContendedEntered, 20 * kMilli, record::MonitorRecord{.thread = 2, .object = 5},
        record::kWhilePaused);
  // These waits began in the pause.
  event(RecordKind::kMonWaited, 30 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kWhilePaused);
  event(RecordKind::kMonContendedEntered, 30 * kMilli, record::MonitorRecord{.thread = 2, .object = 5},
        record::kWhilePaused);
  ASSERT_EQ(capture_.all<trace::MonWaited>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].timeout, trace::Number(10));
  EXPECT_EQ(capture_.all<trace::MonContendedEntered>().size(), 1u);
}

TEST_F(Waits, OneThatBeganInAPauseEndsAfterItWithoutItsTime) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  event(RecordKind::kMonWaited, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  builder_.forget_ended_waits();
  event(RecordKind::kMonWaited, 50 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  ASSERT_EQ(capture_.all<trace::MonWaited>().size(), 2u);
  EXPECT_FALSE(capture_.all<trace::MonWaited>()[1].timeout.present());
}

TEST_F(Waits, AnEndWithoutABeginningIsOneThatBeganBeforeTheTraceOrTheJvmsOwn) {
  event(RecordKind::kMonWaited, 10 * kMilli, record::MonitorRecord{.thread = 1, .object = 4});
  event(RecordKind::kMonWaited, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 5});
  ASSERT_EQ(capture_.all<trace::MonWaited>().size(), 1u);
  EXPECT_FALSE(capture_.all<trace::MonWaited>()[0].timeout.present());
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].objIdRef, trace::ObjectId(4));
}

TEST_F(Waits, SleepsHaveNoObjectAndParksAnOwner) {
  event(RecordKind::kMonWait, 10 * kMilli, record::MonitorRecord{.thread = 1, .argument = 5}, record::kSleep);
  event(RecordKind::kMonWaited, 16 * kMilli, record::MonitorRecord{.thread = 1}, record::kSleep);
  event(RecordKind::kMonWait, 20 * kMilli, record::MonitorRecord{.thread = 1, .object = 4, .owner = 2}, record::kPark);
  event(RecordKind::kMonWaited, 30 * kMilli, record::MonitorRecord{.thread = 1, .object = 4}, record::kPark);
  event(RecordKind::kMonWait, 40 * kMilli, record::MonitorRecord{.thread = 1}, record::kPark);
  const auto waits = capture_.all<trace::MonWait>();
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].objIdRef, trace::ObjectId::sleep());
  EXPECT_EQ(waits[0].timeout, trace::Number(5));
  EXPECT_FALSE(waits[0].threadOwner.present());
  EXPECT_EQ(waits[1].objIdRef, trace::ObjectId(4));
  EXPECT_EQ(waits[1].threadOwner, trace::ThreadId(2));
  EXPECT_EQ(waits[2].objIdRef, trace::ObjectId::none());
  EXPECT_EQ(waits[2].threadOwner, trace::ThreadId(0));
  EXPECT_EQ(capture_.all<trace::MonWaited>()[0].timeout, trace::Number(6));
  EXPECT_EQ(capture_.all<trace::MonWaited>()[1].timeout, trace::Number(10));
}

}  // namespace
}  // namespace jtrace::session
