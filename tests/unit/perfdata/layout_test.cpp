#include "perfdata/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "perfdata/region_writer.h"
#include "tests/testlib/must.h"

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

RegionWriter two_counters(std::endian order = std::endian::little) {
  RegionWriter writer(order);
  writer.add_long("sun.gc.collector.0.invocations", 42, Units::kEvents, Variability::kMonotonic)
      .add_text("sun.rt.javaCommand", "Main a b", Variability::kConstant, kFlagSupported, 64);
  return writer;
}

void put(Bytes& bytes, std::size_t offset, std::int32_t value) { std::memcpy(bytes.data() + offset, &value, 4); }

// The parser's message about `bytes`; "" if it accepts them.
std::string complaint(const Bytes& bytes) {
  auto layout = Layout::parse(bytes);
  if (layout) return "";
  EXPECT_EQ(exit_status(layout.error()), ExitStatus::kMalformed);
  return layout.error().message();
}

TEST(Layout, ReadsBothByteOrders) {
  for (std::endian order : {std::endian::little, std::endian::big}) {
    auto layout = test::must(Layout::parse(two_counters(order).bytes()));
    EXPECT_EQ(layout.prologue().byte_order, order);
    EXPECT_TRUE(layout.complete());
    ASSERT_EQ(layout.counters().size(), 2u);
    const Counter& first = layout.counters()[0];
    EXPECT_EQ(first.name, "sun.gc.collector.0.invocations");
    EXPECT_EQ(first.kind, ValueKind::kLong);
    EXPECT_EQ(units_name(first.units), "Events");
    EXPECT_EQ(variability_name(first.variability), "Monotonic");
    EXPECT_FALSE(first.supported());
    const Counter* second = layout.find("sun.rt.javaCommand");
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->kind, ValueKind::kText);
    EXPECT_EQ(second->vector_length, 64u);
    EXPECT_TRUE(second->supported());
    EXPECT_EQ(layout.find("sun.rt"), nullptr);
  }
}

TEST(Layout, ValueOffsetIsTheOffsetInTheFileAndIsAligned) {
  const Bytes bytes = two_counters().bytes();
  auto layout = Layout::parse(bytes);
  ASSERT_TRUE(layout);
  const Counter& counter = layout->counters()[0];
  EXPECT_EQ(counter.value_offset % 8, 0u);
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data() + counter.value_offset, 8);
  EXPECT_EQ(value, 42);
}

TEST(Layout, SurvivesAMove) {
  auto layout = Layout::parse(two_counters().bytes());
  ASSERT_TRUE(layout);
  Layout moved = std::move(*layout);
  EXPECT_EQ(moved.counters()[1].name, "sun.rt.javaCommand");
}

TEST(Layout, ReportsWhatIsWrongWithThePrologue) {
  const Bytes good = two_counters().bytes();
  const auto with = [&](std::size_t offset, std::int32_t value) {
    Bytes bytes = good;
    put(bytes, offset, value);
    return complaint(bytes);
  };
  EXPECT_THAT(complaint({}), HasSubstr("truncated: 0 bytes, the prologue needs 32"));
  EXPECT_THAT(complaint(Bytes(16)), HasSubstr("truncated: 16 bytes"));
  EXPECT_THAT(complaint(Bytes(32768)), HasSubstr("magic 00000000), or still being created"));
  EXPECT_THAT(with(0, 0x464c457f), HasSubstr("not hsperfdata (magic 7f454c46)"));
  EXPECT_THAT(with(4, 0x01000207), HasSubstr("byte order 7"));
  EXPECT_THAT(with(4, 0x01000301), HasSubstr("format 3.0 is not supported"));
  EXPECT_THAT(with(4, 0x01000101), HasSubstr("format 1.0 is not supported"));
  EXPECT_THAT(with(kUsedOffset, -1), HasSubstr("used -1"));
  EXPECT_THAT(with(kUsedOffset, 0x7fffffff), HasSubstr("used 2147483647"));
  EXPECT_THAT(with(kEntryOffsetOffset, 33), HasSubstr("entry offset 33"));
  EXPECT_THAT(with(kEntryOffsetOffset, -4), HasSubstr("entry offset -4"));
  EXPECT_THAT(with(kEntryCountOffset, -1), HasSubstr("number of entries -1"));
}

TEST(Layout, ReportsWhatIsWrongWithAnEntry) {
  const Bytes good = two_counters().bytes();
  const auto with = [&](std::size_t offset, std::int32_t value) {
    Bytes bytes = good;
    put(bytes, 32 + offset, value);
    return complaint(bytes);
  };
  EXPECT_THAT(with(0, -8), HasSubstr("corrupt entry 0 at offset 32: length -8"));
  EXPECT_THAT(with(0, 4), HasSubstr("length 4"));
  EXPECT_THAT(with(0, 1 << 20), HasSubstr("length 1048576"));
  EXPECT_THAT(with(4, -50), HasSubstr("name offset -50"));
  EXPECT_THAT(with(4, 1000), HasSubstr("name offset 1000"));
  EXPECT_THAT(with(8, -1), HasSubstr("vector length -1"));
  EXPECT_THAT(with(8, 1 << 30), HasSubstr("vector length 1073741824"));
  EXPECT_THAT(with(16, 1000000), HasSubstr("data beyond its length, at 1000000"));
  EXPECT_THAT(with(16, -1), HasSubstr("data beyond its length, at -1"));
}

TEST(Layout, NameWithoutAnEndIsCorrupt) {
  Bytes bytes = two_counters().bytes();
  auto layout = Layout::parse(bytes);
  ASSERT_TRUE(layout);
  for (std::size_t i = 52; i < 32 + layout->counters()[0].entry_length; ++i) bytes[i] = std::byte{'a'};
  EXPECT_THAT(complaint(bytes), HasSubstr("name without an end"));
}

TEST(Layout, AVectorThatLeavesItsEntryIsCorrupt) {
  RegionWriter writer;
  writer.add_text("a", "text");
  Bytes bytes = writer.bytes();
  put(bytes, 32 + 8, 20);  // inside the entry's length, beyond its data
  EXPECT_THAT(complaint(bytes), HasSubstr("data beyond its length"));
}

TEST(Layout, TruncatedFilesSayWhereAndGiveTheirWholePartOnRequest) {
  Bytes bytes = two_counters().bytes();
  const auto used = Layout::parse(bytes)->prologue().used;
  Bytes cut(bytes.begin(), bytes.begin() + used - 8);
  EXPECT_THAT(complaint(cut), HasSubstr("truncated at entry 1 of 2"));
  auto partial = Layout::parse(cut, {.partial = true});
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->counters().size(), 1u);
  EXPECT_FALSE(partial->complete());
  Bytes prologue_only(bytes.begin(), bytes.begin() + 32);
  EXPECT_THAT(complaint(prologue_only), HasSubstr("has 32 of " + std::to_string(used) + " bytes"));
}

TEST(Layout, AnEntryNotFilledInYetEndsTheWalkWithoutAnError) {
  Bytes bytes = two_counters().bytes();
  auto whole = Layout::parse(bytes);
  const std::size_t second = whole->counters()[1].entry_offset;
  put(bytes, second, 0);
  auto growing = test::must(Layout::parse(bytes));
  EXPECT_EQ(growing.counters().size(), 1u);
  EXPECT_FALSE(growing.complete());
  EXPECT_THAT(growing.incomplete_reason(), HasSubstr("stops at entry 1 of 2 declared"));
}

TEST(Layout, MoreDeclaredThanThereAreIsAWarning) {
  Bytes bytes = two_counters().bytes();
  put(bytes, kEntryCountOffset, 1000000);
  auto layout = Layout::parse(bytes);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->counters().size(), 2u);
  EXPECT_THAT(layout->warnings(), testing::ElementsAre("2 entries found, 1000000 declared"));
}

TEST(Layout, UnknownTypesAndUnitsAreKeptRaw) {
  const std::byte value[4] = {};
  RegionWriter writer;
  writer.add_raw("new.kind", 'I', 0, 0, 9, 7, value).add_long("after", 1);
  auto layout = test::must(Layout::parse(writer.bytes()));
  ASSERT_EQ(layout.counters().size(), 2u);
  EXPECT_EQ(layout.counters()[0].kind, ValueKind::kRaw);
  EXPECT_EQ(units_name(layout.counters()[0].units), "Unknown");
  EXPECT_THAT(layout.warnings(), testing::ElementsAre(HasSubstr("units 9, variability 7")));
}

TEST(Layout, OfDuplicatesTheLastCounts) {
  RegionWriter writer;
  writer.add_long("a", 1).add_long("b", 2).add_long("a", 3);
  auto layout = Layout::parse(writer.bytes());
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->find("a"), &layout->counters()[2]);
  EXPECT_THAT(duplicate_names(*layout), testing::ElementsAre("a"));
}

TEST(Layout, OverflowAndAccessibleAreReported) {
  auto layout = Layout::parse(two_counters().set_overflow(4000).set_accessible(false).set_modification(77).bytes());
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->prologue().overflow, 4000u);
  EXPECT_EQ(layout->prologue().modification_ns, 77);
  EXPECT_FALSE(layout->prologue().accessible);
}

}  // namespace
}  // namespace jtrace::perfdata
