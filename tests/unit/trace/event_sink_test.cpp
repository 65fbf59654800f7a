#include "trace/event_sink.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace jtrace::trace {
namespace {

class FailingSink final : public EventSink {
 public:
  Result<> write(const Event&) override {
    ++writes;
    return fail(ErrorCategory::kSystem, "full");
  }
  int writes = 0;
};

TEST(CaptureSink, OwnsWhatItKeeps) {
  CaptureSink capture;
  {
    auto name = std::make_unique<std::string>("worker");
    ASSERT_TRUE(capture.write(ThreadStart{.threadId = ThreadId(7), .threadName = *name}));
    name->assign("gone..");
    auto context = std::make_unique<InvocationContext>(InvocationContext{.nodeIdRef = *name, .ticket = 5});
    std::vector<Value> values = {{.name = *name, .type = "INT"}};
    values[0].text = *name;
    ASSERT_TRUE(capture.write(MethodEntry{.invocationContext = context.get(), .values = values}));
    std::vector<MethodBodyItem> items = {{MethodCall{.ticket = 1, .values = values}}, {Code{.value = *name}}};
    ASSERT_TRUE(capture.write(MethodBody{.name = *name, .items = items}));
    name->assign("xxxxxx");
    context->ticket = 6;
    values[0].type = "LONG";
  }
  ASSERT_TRUE(capture.finish());
  EXPECT_TRUE(capture.finished());
  ASSERT_EQ(capture.events().size(), 3u);
  EXPECT_EQ(capture.all<ThreadStart>().at(0).threadName, "worker");
  const MethodEntry entry = capture.all<MethodEntry>().at(0);
  ASSERT_NE(entry.invocationContext, nullptr);
  EXPECT_EQ(entry.invocationContext->nodeIdRef, "gone..");
  EXPECT_EQ(entry.invocationContext->ticket, 5u);
  ASSERT_EQ(entry.values.size(), 1u);
  EXPECT_EQ(entry.values[0].type, "INT");
  EXPECT_EQ(entry.values[0].text, "gone..");
  const MethodBody body = capture.all<MethodBody>().at(0);
  ASSERT_EQ(body.items.size(), 2u);
  EXPECT_EQ(std::get<MethodCall>(body.items[0].element).values[0].name, "gone..");
  EXPECT_EQ(std::get<Code>(body.items[1].element).value, "gone..");
}

TEST(Values, AbsentEmptyAndZeroDiffer) {
  EXPECT_FALSE(Text().present());
  EXPECT_TRUE(Text("").present());
  EXPECT_TRUE(Text(std::string_view()).present());
  EXPECT_NE(Text(), Text(""));
  EXPECT_FALSE(Number().present());
  EXPECT_TRUE(Number(0).present());
  EXPECT_FALSE(Number(std::nullopt).present());
  EXPECT_FALSE(ThreadId().present());
  EXPECT_TRUE(ThreadId(0).present());
  EXPECT_TRUE(ObjectId::none().is_number());
  EXPECT_FALSE(ObjectId::sleep().is_number());
  EXPECT_TRUE(ObjectId::sleep().present());
  EXPECT_FALSE(ObjectId().is_number());
  EXPECT_FALSE(Time().present());
}

TEST(CountingSink, CountsByElementAndPassesOn) {
  CaptureSink capture;
  CountingSink counting(&capture);
  ASSERT_TRUE(counting.write(GcStart{}));
  ASSERT_TRUE(counting.write(GcFinish{}));
  ASSERT_TRUE(counting.write(GcStart{}));
  ASSERT_TRUE(counting.finish());
  EXPECT_EQ(counting.count(ElementKind::kGcStart), 2u);
  EXPECT_EQ(counting.count(ElementKind::kGcFinish), 1u);
  EXPECT_EQ(counting.count(ElementKind::kThrow), 0u);
  EXPECT_EQ(counting.total(), 3u);
  EXPECT_EQ(capture.events().size(), 3u);
  EXPECT_TRUE(capture.finished());
}

TEST(TeeSink, AFailingSinkDoesNotStopTheOthers) {
  FailingSink failing;
  CaptureSink before, after;
  TeeSink tee({&before, &failing, &after});
  Result<> written = tee.write(GcStart{});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text, "full");
  EXPECT_EQ(before.events().size(), 1u);
  EXPECT_EQ(after.events().size(), 1u);
  EXPECT_EQ(failing.writes, 1);
  ASSERT_TRUE(tee.finish());
  EXPECT_TRUE(after.finished());
}

TEST(FilterSink, PassesOnWhatItShall) {
  CaptureSink capture;
  FilterSink kinds(capture, element_set({ElementKind::kThrow, ElementKind::kCatch}));
  ASSERT_TRUE(kinds.write(GcStart{}));
  ASSERT_TRUE(kinds.write(Throw{}));
  FilterSink own(capture, [](const Event& event) { return std::holds_alternative<GcStart>(event); });
  ASSERT_TRUE(own.write(GcStart{}));
  ASSERT_TRUE(own.write(Catch{}));
  ASSERT_EQ(capture.events().size(), 2u);
  EXPECT_EQ(element_kind(capture.events()[0]), ElementKind::kThrow);
  EXPECT_EQ(element_kind(capture.events()[1]), ElementKind::kGcStart);
  ASSERT_TRUE(own.finish());
  EXPECT_TRUE(capture.finished());
}

}  // namespace
}  // namespace jtrace::trace
