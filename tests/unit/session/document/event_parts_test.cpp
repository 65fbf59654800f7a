// The parts of EventBuilder tested separately, with records alone and without the dispatcher.
#include <gtest/gtest.h>

#include <cstring>

#include "session/document/collection_events.h"
#include "session/document/loss_events.h"
#include "session/document/standstill_events.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

class EventPartsTest : public testing::Test {
 protected:
  BuilderContext context() { return {emitter_, definitions_, anchor_, options_}; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const trace::Event& event : capture_.events())
      found.emplace_back(trace::element_info(trace::element_kind(event)).name);
    return found;
  }
  template <class Record>
  static TimedRecord record_of(RecordKind kind, std::uint64_t time, Record fields, std::uint32_t number = 0) {
    fields.header = {kind, record::slots_of<Record>(), 0, number, time};
    TimedRecord made{};
    std::memcpy(&made.bytes, &fields, sizeof fields);
    made.thread = 1;
    return made;
  }
  using Names = std::vector<std::string>;

  trace::CaptureSink capture_;
  trace::EventEmitter emitter_{capture_};
  ClockAnchor anchor_{1000, 5'000'001'000};
  BuilderOptions options_{.events = record::kMonWaitEvent | record::kMethodEvent, .nested_frees = true};
  DefinitionTable definitions_{emitter_, anchor_};
};

TEST_F(EventPartsTest, AWaitHasItsLength) {
  WaitEvents waits(context());
  const auto at = [&](RecordKind kind, std::uint64_t time) {
    return record_of(kind, time, record::MonitorRecord{.thread = 1, .object = 2}).as<record::MonitorRecord>();
  };
  ASSERT_TRUE(waits.write_wait(at(RecordKind::kMonWait, 10'000'000)));
  ASSERT_TRUE(waits.write_waited(at(RecordKind::kMonWaited, 35'000'000)));
  const auto& waited = std::get<trace::MonWaited>(capture_.events().back());
  EXPECT_EQ(waited.timeout.value(), 25u);
  // The JVM reports only the end of its own waits: it is left out.
  const std::size_t before = capture_.events().size();
  ASSERT_TRUE(waits.write_waited(at(RecordKind::kMonWaited, 36'000'000)));
  EXPECT_EQ(capture_.events().size(), before);
}

TEST_F(EventPartsTest, ACollectionIsHeldUntilItsFiguresHaveCome) {
  ObjectEvents objects(context());
  CollectionEvents collections(context(), objects);
  record::GcFinishRecord finish{.thread = 1};
  const TimedRecord held = record_of(RecordKind::kGcFinish, 100, finish, 7);
  ASSERT_TRUE(collections.take_finish(held.as<record::GcFinishRecord>()));
  EXPECT_TRUE(collections.is_holding());
  const auto over = collections.hold(record_of(RecordKind::kThreadEnd, 110, record::ThreadRecord{.thread = 3}));
  ASSERT_TRUE(over);
  EXPECT_FALSE(*over);
  EXPECT_FALSE(collections.may_release(110));
  EXPECT_TRUE(collections.may_release(200'000'000));
  std::deque<TimedRecord> input;
  ASSERT_TRUE(collections.release(input));
  EXPECT_FALSE(collections.is_holding());
  ASSERT_EQ(input.size(), 1u);
  EXPECT_EQ(input.front().header().kind, RecordKind::kThreadEnd);
  EXPECT_EQ(names().back(), "gcFinish");
}

TEST_F(EventPartsTest, ALossClosesWhatIsOpen) {
  ObjectSequences sequences;
  CallEvents calls(context(), sequences);
  WaitEvents waits(context());
  ProducerStates producers;
  LossEvents losses(context(), calls, waits, producers);
  ASSERT_TRUE(calls.write_entry(record_of(RecordKind::kMethodEntry, 10, record::CalloutRecord{}, 7), 10, 0));
  EXPECT_EQ(calls.stacks().of(1).size(), 1u);
  const TimedRecord gap = record_of(RecordKind::kGap, 30, record::GapRecord{.thread = 1, .from = 20}, 4);
  ASSERT_TRUE(losses.write(gap.as<record::GapRecord>()));
  EXPECT_EQ(calls.stacks().of(1).size(), 0u);
  EXPECT_EQ(std::get<trace::Option>(capture_.events().back()).key.view(), "jtrace.gap");
  // The exit of a lost call has no entry.
  ASSERT_TRUE(calls.write_end(record_of(RecordKind::kMethodExit, 40, record::CalloutRecord{}, 7)));
  EXPECT_EQ(calls.orphan_exits(), 1u);
}

TEST_F(EventPartsTest, AStandstillLastsAsLongAsItWasSeen) {
  StandstillEvents standstills(context());
  standstills.add({100, true});
  standstills.add({150, true});
  EXPECT_FALSE(standstills.take_until(99));
  while (const auto seen = standstills.take_until(200)) ASSERT_TRUE(standstills.write(*seen));
  EXPECT_EQ(names(), Names({"processSuspend"}));
  ASSERT_TRUE(standstills.end_before(150));
  EXPECT_EQ(names().size(), 1u);
  ASSERT_TRUE(standstills.end_before(160));
  EXPECT_EQ(names(), Names({"processSuspend", "processResume"}));
  EXPECT_EQ(std::get<trace::ProcessResume>(capture_.events().back()).time.ns(), anchor_.wall_of(150));
}

}  // namespace
}  // namespace jtrace::session
