// Several looks at a made-up heap: what grew each time, how fast, and what did not.
#include "coreinspect/graph/leak_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kItem = 0x1300;
constexpr std::uint64_t kKept = 0x10000, kOther = 0x20000, kFirst = 0x100000, kStep = 0x1000;
constexpr std::uint32_t kLoad = 1000;                 // bytes of an item's array
constexpr std::uint64_t kOfItem = 20 + (kLoad + 20);  // about what it adds, with its place in an array

// Two static fields, each with an array of so many items, looked at again and again.
class Looks {
 public:
  void look(double seconds, std::size_t kept, std::size_t other) {
    HprofBuilder heap;
    heap.add_class(kObject, "java/lang/Object", 0, {});
    heap.add_class(kApp, "App", kObject, {}, {.statics = {{"KEPT", kKept}, {"OTHER", kOther}}});
    heap.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    heap.add_class(kItem, "Item", kObject, {"load"});
    heap.add_root(kApp);
    heap.add_root(kObject);
    next_ = kFirst + shift_;
    add_list(heap, kKept, kept);
    add_list(heap, kOther, other);
    shift_ += kStep / 2;                   // objects move
    const std::string dump = heap.dump();  // which the graph refers to
    const auto graph =
        test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}));
    growth.look(HeapTree(*graph), seconds);
  }
  LeakGrowth growth;

 private:
  void add_list(HprofBuilder& heap, std::uint64_t id, std::size_t count) {
    std::vector<std::uint64_t> items;
    for (std::size_t i = 0; i < count; ++i) {
      items.push_back(next_ += kStep);
      heap.add_instance(next_, kItem, {next_ + 0x100});
      heap.add_bytes(next_ + 0x100, kLoad);
    }
    heap.add_array(id, kArray, items);
  }
  std::uint64_t next_ = 0, shift_ = 0;
};

TEST(LeakGrowth, WhatGrowsEachTimeComesFirstWithItsRate) {
  Looks looks;
  looks.look(0, 200, 6000);
  looks.look(10, 300, 6000);
  looks.look(20, 400, 6000);
  const auto found = looks.growth.result();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].suspect.holder, "static App.KEPT");
  EXPECT_TRUE(found[0].grew_each_time);
  EXPECT_DOUBLE_EQ(found[0].entries_per_second, 10);
  EXPECT_NEAR(found[0].bytes_per_second, 10.0 * kOfItem, 300);
  ASSERT_EQ(found[0].sizes.size(), 3u);
  EXPECT_EQ(found[0].sizes[1].entries, 300u);
  EXPECT_DOUBLE_EQ(found[0].sizes[2].seconds, 20);
  EXPECT_EQ(found[1].suspect.holder, "static App.OTHER");  // a suspect of one look, because of its size
  EXPECT_FALSE(found[1].grew_each_time);
  EXPECT_EQ(found[1].entries_per_second, 0);
}

TEST(LeakGrowth, WhatIsEmptiedMeanwhileDidNotGrowEachTime) {
  Looks looks;
  looks.look(0, 200, 0);
  looks.look(1, 100, 0);
  looks.look(2, 400, 0);
  EXPECT_TRUE(looks.growth.result().empty());  // too small for a suspect otherwise
  const LeakLimits any{.share = 0, .bytes = 1};
  const auto found = looks.growth.result(any);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].grew_each_time);
}

TEST(LeakGrowth, OneThatWasTooSmallAtFirstCountsFromWhereItIsFound) {
  Looks looks;
  looks.look(0, 1, 0);
  looks.look(5, 200, 0);
  looks.look(10, 250, 0);
  const auto found = looks.growth.result();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].grew_each_time);
  EXPECT_FALSE(found[0].sizes[0].found());
  EXPECT_DOUBLE_EQ(found[0].entries_per_second, 10);
}

TEST(LeakGrowth, OneLookKnowsNoGrowth) {
  Looks looks;
  looks.look(0, 200, 6000);
  const auto found = looks.growth.result();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].grew_each_time);
  EXPECT_EQ(found[0].bytes_per_second, 0);
}

}  // namespace
}  // namespace jtrace::coreinspect
