#include "tests/unit/session/document/event_builder_fixture.h"
#include "trace/gap_option.h"

namespace jtrace::session {
namespace {

// The document's reports of losses.
class Gaps : public Calls {
 protected:
  void gap(std::uint64_t thread, std::uint64_t from, std::uint32_t lost, std::uint16_t flags = 0) {
    event(RecordKind::kGap, ++time_, record::GapRecord{.thread = thread, .from = from}, flags, lost);
  }
  void run_virtual(std::uint32_t producer, std::uint64_t thread, std::uint64_t lost_until = 0) {
    builder_.on_producer(producer);
    event(RecordKind::kThreadSwitch, ++time_, record::ThreadRecord{.thread = thread, .lost_until = lost_until},
          record::kIsVirtual);
  }
  // "thread from to lost", times monotonic.
  Names gaps() const {
    Names found;
    for (const trace::Option& option : capture_.all<trace::Option>()) {
      if (option.key.view() != trace::kGapKey) continue;
      const auto gap = trace::read_gap(option.value.view());
      if (!gap) return {"unreadable"};
      const auto at = [](std::uint64_t ns) { return ns == 0 ? "-" : std::to_string(ns - 5'000'000'000); };
      found.push_back(std::to_string(gap->thread) + " " + at(gap->from) + " " + at(gap->to) + " " +
                      std::to_string(gap->lost));
    }
    return found;
  }
};

TEST_F(Gaps, StandBetweenTheEventsOfTheirThread) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  gap(1, time_, 17);
  callout(RecordKind::kMethodEntry, 8);
  EXPECT_EQ(gaps(), (Names{"1 101 102 17"}));
  EXPECT_EQ(names(),
            (Names{"threadStart", "classDef", "methodDef", "methodEntry", "option", "methodDef", "methodEntry"}));
}

// The last known state of a thread that still loses events when the document ends.
TEST_F(Gaps, ThatGoOnAtTheEndAreReported) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  gap(1, time_, 0, record::kGapBegins);
  EXPECT_EQ(gaps(), Names());
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(gaps(), (Names{"1 101 - 0"}));
}

TEST_F(Gaps, ThatDidNotComeAreNone) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  gap(1, time_, 0, record::kGapBegins);  // but there was room by then
  callout(RecordKind::kMethodExit, 7);
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(gaps(), Names());
  EXPECT_EQ(capture_.all<trace::MethodExit>().size(), 1u);
}

TEST_F(Gaps, ThatNoThreadIsKnownOfCloseAll) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  gap(0, time_, 3);
  callout(RecordKind::kMethodExit, 7);
  EXPECT_EQ(gaps(), (Names{"0 101 102 3"}));
  EXPECT_EQ(builder_.orphan_exits(), 1u);
}

TEST_F(Gaps, OfAVirtualThreadAreWhereItRunsNext) {
  run_virtual(1, 2);                     // 101
  callout(RecordKind::kMethodEntry, 7);  // 102
  run_virtual(3, 2, 90);                 // 103: before its last event
  callout(RecordKind::kMethodExit, 7);
  EXPECT_EQ(gaps(), Names());
  EXPECT_EQ(capture_.all<trace::MethodExit>().size(), 1u);
  callout(RecordKind::kMethodEntry, 8);  // 105
  run_virtual(1, 2, 105);                // 106: may have run elsewhere since
  EXPECT_EQ(gaps(), (Names{"2 105 106 0"}));
  callout(RecordKind::kMethodExit, 8);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
}

// A thread that has ended is in no call: missing ends were lost (a callout had no stack).
TEST_F(Gaps, AreWhatAThreadHasOpenAtItsEnd) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 7);
  callout(RecordKind::kMethodEntry, 7);
  event(RecordKind::kThreadEnd, ++time_, record::ThreadRecord{.thread = 1});
  EXPECT_EQ(gaps(), (Names{"1 103 103 2"}));
  run(2, 2);
  callout(RecordKind::kMethodEntry, 7);
  event(RecordKind::kThreadEnd, ++time_, record::ThreadRecord{.thread = 2}, record::kWithinCalls);
  EXPECT_EQ(gaps().size(), 1u);
  EXPECT_EQ(capture_.all<trace::Option>().back().key.view(), trace::kExitKey);
  EXPECT_EQ(capture_.all<trace::Option>().back().value.view(), "2");
}

}  // namespace
}  // namespace jtrace::session
