// Two made-up heaps compared by class.
#include "coreinspect/graph/heap_totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;

// So many pairs, each with an array of its own; one more array without a reference to it.
HeapTotals heap_of(std::size_t pairs, std::uint32_t bytes, TotalsBy by = TotalsBy::kClass) {
  HprofBuilder builder;
  builder.add_class(0x1000, "java/lang/Object", 0, {});
  builder.add_class(0x1100, "Pair", 0x1000, {"one", "other"});
  for (const std::uint64_t id : {0x1000u, 0x1100u}) builder.add_root(id);
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint64_t id = 0x10000 + 0x1000 * i;
    builder.add_instance(id, 0x1100, {id + 0x100, 0});
    builder.add_bytes(id + 0x100, bytes);
    builder.add_root(id);
  }
  builder.add_bytes(0x2000, 500);
  const std::string dump = builder.dump();
  return HeapTotals(
      *test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{})), by);
}

std::vector<std::string> names(const std::vector<HeapGrowth>& rows) {
  std::vector<std::string> found;
  for (const HeapGrowth& each : rows) found.push_back(each.name);
  return found;
}

TEST(HeapTotals, GrowByWhatIsReachable) {
  const auto rows = growth(heap_of(2, 8), heap_of(5, 8), GrowthOrder::kBytes);
  ASSERT_THAT(names(rows), ElementsAre("Pair", "byte[]")) << "equal growth: by name";
  EXPECT_EQ(rows[0].objects(), 3);
  EXPECT_EQ(rows[0].bytes(), 3 * 24);
  EXPECT_EQ(rows[0].retained(), 3 * (24 + 24));
  EXPECT_EQ(rows[1].before.objects, 2u);
  EXPECT_EQ(rows[1].after.objects, 5u);
}

TEST(HeapTotals, ThoseThatShrankStandLast) {
  const auto rows = growth(heap_of(3, 1000), heap_of(4, 10), GrowthOrder::kBytes);
  ASSERT_THAT(names(rows), ElementsAre("Pair", "byte[]"));
  EXPECT_EQ(rows[1].bytes(), 4 * 32 - 3 * 1016);
  EXPECT_THAT(names(growth(heap_of(3, 1000), heap_of(4, 10), GrowthOrder::kName)), ElementsAre("Pair", "byte[]"));
  EXPECT_THAT(names(growth(heap_of(4, 10), heap_of(3, 1000), GrowthOrder::kObjects)), ElementsAre("Pair", "byte[]"));
}

TEST(HeapTotals, EqualHeapsHaveNoRows) {
  EXPECT_TRUE(growth(heap_of(3, 8), heap_of(3, 8), GrowthOrder::kRetained).empty());
}

TEST(HeapTotals, GrowByWhatKeepsIt) {
  const HeapTotals before = heap_of(2, 8, TotalsBy::kPath), after = heap_of(5, 8, TotalsBy::kPath);
  const auto rows = growth(before, after, GrowthOrder::kRetained);
  ASSERT_THAT(names(rows), ElementsAre("Pair", "Pair\nbyte[]"));
  EXPECT_EQ(rows[0].retained(), 3 * (24 + 24));
  EXPECT_EQ(rows[1].retained(), 3 * 24);
  const std::vector<HeapGrowth> last = {rows[1]};
  EXPECT_THAT(names(path_rows(before, after, last, 1)), ElementsAre("Pair", "Pair\nbyte[]")) << "with what is above it";
}

TEST(HeapTotals, APathThatIsNewGrowsFromNothing) {
  const auto rows = growth(heap_of(0, 8, TotalsBy::kPath), heap_of(5, 8, TotalsBy::kPath), GrowthOrder::kRetained);
  ASSERT_THAT(names(rows), ElementsAre("Pair", "Pair\nbyte[]"));
  EXPECT_EQ(rows[0].before.retained, 0u);
}

TEST(HeapTotals, GrowByLoaderAndPackage) {
  const auto of = [](TotalsBy by) { return growth(heap_of(2, 8, by), heap_of(5, 8, by), GrowthOrder::kRetained); };
  EXPECT_THAT(names(of(TotalsBy::kPackage)), ElementsAre("(no package)"));
  const auto loaders = of(TotalsBy::kLoader);
  ASSERT_THAT(names(loaders), ElementsAre("boot loader"));
  EXPECT_EQ(loaders[0].retained(), 3 * (24 + 24));
}

}  // namespace
}  // namespace jtrace::coreinspect
