// How paths groups the objects of a class.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/tools/graph_views.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kItem = 0x1300;
constexpr std::uint64_t kMany = 0x2000, kFew = 0x3000, kLone = 0x4000, kMore = 0x5000;

// Five items in one array, two in another, and one in each of two static fields.
std::string dump() {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_class(kApp, "shop/App", kObject, {},
                    {.statics = {{"LONE", kLone}, {"FEW", kFew}, {"MANY", kMany}, {"MORE", kMore}}});
  builder.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
  builder.add_class(kItem, "shop/Item", kObject, {"load"});
  for (const auto& [array, count] : {std::pair(kMany, 5u), {kFew, 2u}}) {
    std::vector<std::uint64_t> items;
    for (std::uint64_t i = 1; i <= count; ++i) items.push_back(array + 0x100 * i);
    builder.add_array(array, kArray, items);
    for (const std::uint64_t item : items) builder.add_instance(item, kItem, {0});
  }
  builder.add_instance(kLone, kItem, {0});
  builder.add_instance(kMore, kItem, {0});
  return builder.dump();
}

ViewResult paths_of(const std::string& what, bool json = false, std::size_t rows = 0) {
  const std::string bytes = dump();
  const auto graph =
      test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(bytes), "dump")), HeapShape{}));
  ViewOptions options{.json = json, .arguments = {what}};
  options.heap.top = rows;
  return test::must(graph_paths(*graph, options));
}

TEST(Paths, OfAClassAreOneForEachFieldThatHoldsMost) {
  const std::string text = paths_of("Item").out;
  EXPECT_THAT(text, StartsWith("5 of 9 objects are held by static shop.App.MANY and keep 80 bytes, such as\n"
                               "shop.Item @0x2100 is held by\n"
                               "  class shop.App @0x1100  (system class)\n"
                               "    static MANY java.lang.Object[] @0x2000\n"
                               "    [0] shop.Item @0x2100\n"
                               "2 of 9 objects are held by static shop.App.FEW and keep 32 bytes, such as\n"));
  EXPECT_THAT(text, HasSubstr("1 of 9 objects is held by static shop.App.LONE and keeps 16 bytes:\n"));
  EXPECT_THAT(text, HasSubstr("... 1 more object is held by 1 other field\n"));
  EXPECT_THAT(paths_of("Item", false, 4).out, Not(HasSubstr("more object")));
}

TEST(Paths, OfOneObjectHaveNoGroups) {
  EXPECT_THAT(paths_of("0x3100").out, StartsWith("shop.Item @0x3100 is held by\n"));
  EXPECT_EQ(paths_of("0x3100", true).members, "");
}

TEST(Paths, AsJsonHaveTheNumbersOfTheGroup) {
  const ViewResult result = paths_of("Item", true);
  EXPECT_EQ(result.members, R"("objects":9,"fields":4)");
  EXPECT_THAT(result.out,
              HasSubstr(R"("root":"system class","heldBy":"static shop.App.MANY","objects":5,"retained":80})"));
}

}  // namespace
}  // namespace jtrace::coreinspect
