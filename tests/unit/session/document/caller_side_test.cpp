// Calls as their callers see them (methodCall, methodReturn), alone and beside those of the callees.
#include "session/document/call_events.h"
#include "tests/unit/session/document/event_builder_fixture.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;
using record::RecordKind;

// Calls as their callers see them; 20 stands for method 8.
class CallerSide : public EventBuilderTest {
 protected:
  explicit CallerSide(std::uint64_t events = record::kCallEvent) : EventBuilderTest({.events = events}) {
    define(record::thread_definition(1, 10, "caller"));
    define(record::class_definition(5, 11, "LMade;"));
    for (const std::uint64_t method : {7u, 9u}) define(record::method_definition(method, 11, 5, "work"));
    define(record::method_definition(8, 11, 5, "main", "()V", 9));  // public static
    define(record::stands_for_definition(20, 12, 8));
    define(record::stands_for_definition(21, 12, 9));
    builder_.on_producer(1);
    event(RecordKind::kThreadSwitch, 20, record::ThreadRecord{.thread = 1});
  }
  void callout(RecordKind kind, std::uint32_t method) { event(kind, ++time_, record::CalloutRecord{}, 0, method); }
  // "call 8 ticket 1 depth 1", "return 8 ticket 1", "entry 7 ticket 2 depth 1", "exit 7 ticket 2".
  std::vector<std::string> said() const {
    std::vector<std::string> texts;
    const auto of = [&](const char* what, const auto& element) {
      texts.push_back(what + (" " + std::to_string(element.methodIdRef.value())) + " ticket " +
                      std::to_string(element.ticket.value()));
    };
    for (const trace::Event& each : capture_.events()) {
      if (const auto* call = std::get_if<trace::MethodCall>(&each)) {
        of("call", *call);
        texts.back() += " depth " + std::to_string(call->stackDepth.value());
      }
      if (const auto* back = std::get_if<trace::MethodReturn>(&each)) of("return", *back);
      if (const auto* entry = std::get_if<trace::MethodEntry>(&each)) {
        of("entry", *entry);
        texts.back() += " depth " + std::to_string(entry->stackDepth.value());
      }
      if (const auto* exit = std::get_if<trace::MethodExit>(&each)) of("exit", *exit);
    }
    return texts;
  }
  std::uint64_t time_ = 100;
};

TEST_F(CallerSide, OfAStaticMethodHasNoReceiverAndFramesAreNotWritten) {
  callout(RecordKind::kFrameBegin, 7);
  callout(RecordKind::kCall, 20);
  callout(RecordKind::kFrameBegin, 8);
  callout(RecordKind::kCall, 21);
  callout(RecordKind::kReturn, 21);
  callout(RecordKind::kFrameEnd, 8);
  callout(RecordKind::kReturn, 20);
  callout(RecordKind::kFrameEnd, 7);
  EXPECT_EQ(said(),
            (Names{"call 8 ticket 1 depth 1", "call 9 ticket 2 depth 2", "return 9 ticket 2", "return 8 ticket 1"}));
  EXPECT_EQ(capture_.all<trace::MethodCall>()[0].objIdRef, trace::ObjectId::none());
  EXPECT_EQ(capture_.all<trace::MethodCall>()[0].classIdRef, trace::ClassId(5));
  EXPECT_FALSE(capture_.all<trace::MethodCall>()[1].objIdRef.present());
}

TEST_F(CallerSide, AnExceptionEndsWhatIsAboveTheFrameThatHandlesIt) {
  callout(RecordKind::kFrameBegin, 7);
  callout(RecordKind::kCall, 20);
  callout(RecordKind::kFrameBegin, 8);
  callout(RecordKind::kCall, 20);  // of method 8 itself
  callout(RecordKind::kFrameBegin, 8);
  callout(RecordKind::kCall, 21);  // of a method that is not traced
  callout(RecordKind::kFrameEnd, 8);
  callout(RecordKind::kHandler, 8);
  callout(RecordKind::kCall, 21);
  EXPECT_EQ(said(), (Names{"call 8 ticket 1 depth 1", "call 8 ticket 2 depth 2", "call 9 ticket 3 depth 3",
                           "return 9 ticket 3", "return 8 ticket 2", "call 9 ticket 4 depth 2"}));
  // A handler of a frame that began before the trace: no known call is still running.
  callout(RecordKind::kHandler, 9);
  EXPECT_EQ(said().size(), 8u);
  EXPECT_EQ(said().back(), "return 8 ticket 1");
  callout(RecordKind::kReturn, 20);
  EXPECT_EQ(builder_.orphan_exits(), 1u);
  EXPECT_EQ(said().size(), 8u);
}

TEST_F(CallerSide, AGapForgetsThem) {
  callout(RecordKind::kFrameBegin, 7);
  callout(RecordKind::kCall, 20);
  event(RecordKind::kGap, time_ + 1, record::GapRecord{.thread = 1, .from = time_}, 0, 1000);
  ++time_;
  callout(RecordKind::kReturn, 20);
  EXPECT_EQ(said(), (Names{"call 8 ticket 1 depth 1"}));
}

TEST_F(CallerSide, OneThatIsKnownByNameHasOnlyTheNameUntilMoreIsKnown) {
  define(record::class_definition(6, 11, "far/Away", 0, record::kClassNamed | record::kClassLoadedBefore));
  define(record::method_definition(30, 12, 6, "go", "(I)V", 8));
  callout(RecordKind::kCall, 30);
  define(record::stands_for_definition(30, 13, 9));
  callout(RecordKind::kReturn, 30);
  callout(RecordKind::kCall, 30);
  EXPECT_EQ(said(), (Names{"call 30 ticket 1 depth 0", "return 30 ticket 1", "call 9 ticket 2 depth 0"}));
  const auto classes = capture_.all<trace::ClassDef>();
  EXPECT_EQ(classes[0].name.view(), "far/Away");
  EXPECT_FALSE(classes[0].numMethods.present());
  const auto methods = capture_.all<trace::MethodDef>();
  EXPECT_EQ(methods[0].signature.view(), "(I)V");
  EXPECT_EQ(methods[0].classIdRef, trace::ClassId(6));
  EXPECT_FALSE(methods[0].isNative.has_value());
  EXPECT_EQ(builder_.made_up_definitions(), 0u);
}

class BothSides : public CallerSide {
 protected:
  BothSides() : CallerSide(record::kCallEvent | record::kMethodEvent | record::kThrowEvent | record::kCatchEvent) {}
};

TEST_F(BothSides, NestAndTheCatchEndsTheCalls) {
  callout(RecordKind::kMethodEntry, 7);
  callout(RecordKind::kCall, 20);
  callout(RecordKind::kMethodEntry, 8);
  event(RecordKind::kThrow, ++time_, record::ExceptionRecord{.handle = 77}, 0, 8);
  event(RecordKind::kThrow, ++time_, record::ExceptionRecord{.handle = 77}, record::kLeavesFrame, 8);
  callout(RecordKind::kMethodUnwind, 8);
  event(RecordKind::kCatch, ++time_, record::ExceptionRecord{.handle = 77}, 0, 7);
  callout(RecordKind::kMethodExit, 7);
  EXPECT_EQ(said(), (Names{"entry 7 ticket 1 depth 1", "call 8 ticket 2 depth 1", "entry 8 ticket 3 depth 2",
                           "exit 8 ticket 3", "return 8 ticket 2", "exit 7 ticket 1"}));
  const auto throws = capture_.all<trace::Throw>();
  ASSERT_EQ(throws.size(), 2u);
  EXPECT_EQ(throws[1].ticket, trace::WordList(1));
}

TEST_F(CallerSide, EndsWithTheConstructorThatMadeIt) {
  define(record::method_definition(10, 11, 5, "<init>"));
  callout(RecordKind::kFrameBegin, 7);
  callout(RecordKind::kCall, 8);
  callout(RecordKind::kFrameBegin, 10);
  callout(RecordKind::kCall, 8);
  callout(RecordKind::kConstructor, 0);
  EXPECT_EQ(capture_.all<trace::MethodReturn>().size(), 1u);
  callout(RecordKind::kFrameBegin, 10);
  callout(RecordKind::kCall, 8);
  EXPECT_EQ(capture_.all<trace::MethodCall>().back().stackDepth, trace::Number(2));
}

}  // namespace
}  // namespace jtrace::session
