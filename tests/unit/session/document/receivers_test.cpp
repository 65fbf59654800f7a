// Receivers of calls, and the count of the events on each object.
#include "session/document/object_sequences.h"
#include "tests/unit/session/document/event_builder_fixture.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

class Receivers : public Calls {
 protected:
  Receivers() : Calls(true) {
    define(record::method_definition(10, 11, 5, "main", "()V", 9));  // public static
    for (const std::uint64_t object : {70u, 71u}) define(record::object_definition(object, 11, 5, 16));
  }
  void object_callout(RecordKind kind, std::uint32_t method, std::uint64_t object) {
    event(kind, ++time_, record::ReceiverRecord{.object = object}, 0, method);
  }
  // "7 #70/1" for each entry and exit: method, object, sequenceCounter; "-": absent.
  template <class Element>
  static std::string said(const Element& call) {
    std::string text = std::to_string(call.methodIdRef.value()) + " ";
    text += call.objIdRef.present() ? "#" + std::to_string(call.objIdRef.value()) : "-";
    return text + "/" + (call.sequenceCounter.present() ? std::to_string(call.sequenceCounter.value_or(0)) : "-");
  }
  template <class Element>
  std::vector<std::string> all_said() const {
    std::vector<std::string> texts;
    for (const Element& each : capture_.all<Element>()) texts.push_back(said(each));
    return texts;
  }
};

TEST_F(Receivers, EntriesExitsAndTheEndOfAnObjectAreCounted) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 10);
  object_callout(RecordKind::kEntryOf, 7, 70);
  object_callout(RecordKind::kEntryOf, 8, 71);
  callout(RecordKind::kMethodExit, 8);
  run(2, 2);
  object_callout(RecordKind::kEntryOf, 8, 70);
  callout(RecordKind::kMethodUnwind, 8);
  builder_.on_producer(1);
  callout(RecordKind::kMethodExit, 7);
  callout(RecordKind::kMethodExit, 10);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 70, .thread = 0});
  EXPECT_EQ(all_said<trace::MethodEntry>(), (Names{"10 #0/0", "7 #70/1", "8 #71/1", "8 #70/2"}));
  EXPECT_EQ(all_said<trace::MethodExit>(), (Names{"8 #71/2", "8 #70/3", "7 #70/4", "10 #0/0"}));
  EXPECT_EQ(capture_.all<trace::ObjDef>().size(), 2u);
  ASSERT_EQ(capture_.all<trace::ObjFree>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::ObjFree>()[0].sequenceCounter, trace::Number(5));
}

TEST_F(Receivers, AConstructorsIsKnownAfterItsEntry) {
  run(1, 1);
  callout(RecordKind::kMethodEntry, 8);  // of a subclass
  callout(RecordKind::kMethodEntry, 7);
  object_callout(RecordKind::kReceiver, 7, 70);
  callout(RecordKind::kMethodExit, 7);
  object_callout(RecordKind::kReceiver, 8, 70);
  callout(RecordKind::kMethodUnwind, 8);
  callout(RecordKind::kMethodEntry, 9);  // super() did not return
  callout(RecordKind::kMethodUnwind, 9);
  object_callout(RecordKind::kReceiver, 7, 71);  // of no known call
  EXPECT_EQ(all_said<trace::MethodEntry>(), (Names{"8 -/-", "7 -/-", "9 -/-"}));
  EXPECT_EQ(all_said<trace::MethodExit>(), (Names{"7 #70/2", "8 #70/4", "9 -/-"}));
}

TEST_F(Receivers, AnObjectIsNotOverBeforeTheCallsOnIt) {
  run(1, 1);
  object_callout(RecordKind::kEntryOf, 7, 70);
  object_callout(RecordKind::kEntryOf, 7, 70);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 70, .thread = 0});
  callout(RecordKind::kMethodExit, 7);
  callout(RecordKind::kMethodExit, 7);
  EXPECT_TRUE(capture_.all<trace::ObjFree>().empty());
  callout(RecordKind::kMethodEntry, 10);
  ASSERT_EQ(capture_.all<trace::ObjFree>().size(), 1u);
  EXPECT_EQ(capture_.all<trace::ObjFree>()[0].sequenceCounter, trace::Number(5));
  // Calls of which the rest is lost delay nothing.
  object_callout(RecordKind::kEntryOf, 7, 71);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 71, .thread = 0});
  event(RecordKind::kGap, time_ + 1, record::GapRecord{.thread = 1, .from = time_}, 0, 1000);
  ++time_;
  EXPECT_TRUE(builder_.finish());
  EXPECT_EQ(capture_.all<trace::ObjFree>().size(), 2u);
}

TEST_F(Receivers, OfALateEntryIsCountedWhereItIsWritten) {
  run(1, 1);
  event(RecordKind::kLateEntry, ++time_, record::LateEntryRecord{.start = 90}, 0, 9);  // a constructor before super()
  event(RecordKind::kLateEntryOf, ++time_, record::LateEntryOfRecord{.start = 91, .object = 70}, 0, 7);
  event(RecordKind::kLateEntryOf, ++time_, record::LateEntryOfRecord{.start = 92, .object = 70}, 0, 8);
  callout(RecordKind::kMethodExit, 8);
  callout(RecordKind::kMethodExit, 7);
  object_callout(RecordKind::kReceiver, 9, 70);
  callout(RecordKind::kMethodExit, 9);
  event(RecordKind::kObjFree, ++time_, record::ObjectRecord{.id = 70, .thread = 0});
  EXPECT_EQ(all_said<trace::MethodEntry>(), (Names{"9 -/-", "7 #70/1", "8 #70/2"}));
  EXPECT_EQ(all_said<trace::MethodExit>(), (Names{"8 #70/3", "7 #70/4", "9 #70/6"}));
  EXPECT_EQ(capture_.all<trace::MethodEntry>()[1].time.ns(), 5'000'001'000u - 1000 + 91);
  EXPECT_EQ(capture_.all<trace::ObjFree>()[0].sequenceCounter, trace::Number(7));
}

TEST_F(Receivers, WithoutCpuTimeWhatARecordHasInItsPlaceIsNothing) {
  run(1, 1);
  event(RecordKind::kEntryOf, ++time_, record::ReceiverRecord{.object = 70, .cpu_time = 0xdead}, 0, 7);
  EXPECT_FALSE(capture_.all<trace::MethodEntry>()[0].threadCpuTime.present());
}

}  // namespace
}  // namespace jtrace::session
