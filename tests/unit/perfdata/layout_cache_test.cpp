#include "perfdata/layout_cache.h"

#include <gtest/gtest.h>

#include "perfdata/region_writer.h"

namespace jtrace::perfdata {
namespace {

using Bytes = std::vector<std::byte>;

Bytes region(std::int64_t value, std::string_view text, std::string_view name = "sun.a", Units units = Units::kEvents,
             std::endian order = std::endian::little) {
  RegionWriter writer(order);
  writer.add_long(name, value, units).add_text("sun.b", text, Variability::kConstant, 0, 16);
  writer.set_modification(value).set_overflow(static_cast<std::uint32_t>(value));
  return writer.bytes();
}

std::shared_ptr<const Layout> layout_of(LayoutCache& cache, const Bytes& bytes) {
  auto layout = cache.get(bytes, {});
  EXPECT_TRUE(layout);
  return layout ? *layout : nullptr;
}

TEST(LayoutCache, SharesWhatHasTheSameEntriesWhateverTheValues) {
  LayoutCache cache;
  const auto first = layout_of(cache, region(1, "x"));
  EXPECT_EQ(layout_of(cache, region(2, "y")), first);
  const auto swapped = layout_of(cache, region(1, "x", "sun.a", Units::kEvents, std::endian::big));
  EXPECT_NE(swapped, first);
  EXPECT_EQ(layout_of(cache, region(3, "y", "sun.a", Units::kEvents, std::endian::big)), swapped);
}

TEST(LayoutCache, FindsEveryDifferenceOfAnEntry) {
  LayoutCache cache;
  const auto first = layout_of(cache, region(1, "x"));
  EXPECT_NE(layout_of(cache, region(1, "x", "sun.c")), first);
  EXPECT_NE(layout_of(cache, region(1, "x", "sun.a", Units::kBytes)), first);
  // Each byte of the prologue's counts, of the headers and of the names is damaged in turn.
  const Bytes whole = region(1, "x");
  for (const Counter& counter : first->counters())
    for (std::size_t at = counter.entry_offset; at < counter.entry_offset + 20; ++at) {
      Bytes damaged = whole;
      damaged[at] ^= std::byte{0x41};
      EXPECT_FALSE(first->describes(damaged)) << at;
    }
  EXPECT_FALSE(first->describes(std::span(whole).first(31)));
  EXPECT_FALSE(first->describes(std::span(whole).first(first->prologue().used - 1)));
  EXPECT_TRUE(first->describes(std::span(whole).first(first->prologue().used)));
}

TEST(LayoutCache, KeepsThoseUsedLast) {
  LayoutCache cache;
  const auto first = layout_of(cache, region(1, "x"));
  const auto name = [](std::size_t i) { return "sun." + std::to_string(i); };
  const auto second = layout_of(cache, region(1, "x", name(0)));
  for (std::size_t i = 1; i < LayoutCache::kKept; ++i) {
    EXPECT_EQ(layout_of(cache, region(1, "x")), first);
    (void)layout_of(cache, region(1, "x", name(i)));
  }
  EXPECT_EQ(layout_of(cache, region(1, "x")), first);
  EXPECT_NE(layout_of(cache, region(1, "x", name(0))), second);
}

TEST(LayoutCache, NeverSharesWhatIsNotWhole) {
  LayoutCache cache;
  Bytes bytes = region(1, "x");
  bytes[28] = std::byte{3};  // one entry too many
  EXPECT_NE(layout_of(cache, bytes), layout_of(cache, bytes));
}

}  // namespace
}  // namespace jtrace::perfdata
