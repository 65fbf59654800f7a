// The dominator tree by class of a made-up heap.
#include "coreinspect/graph/class_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kBytes = 0x1300, kBox = 0x1400,
                        kLink = 0x1500, kFirst = 0x10000;

// static App.BOXES: an array of two boxes with bytes of their own, and of one that another root holds too; static
// App.LIST: 50 links, each with the next one.
class ClassesThatKeep : public ::testing::Test {
 protected:
  ClassesThatKeep() {
    heap_.add_class(kObject, "java/lang/Object", 0, {});
    heap_.add_class(kApp, "App", kObject, {}, {.statics = {{"BOXES", kFirst}, {"LIST", kFirst + 0x1000}}});
    heap_.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    heap_.add_class(kBytes, "[B", kObject, {});
    heap_.add_class(kBox, "Box", kObject, {"content"});
    heap_.add_class(kLink, "Link", kObject, {"next"});
    heap_.add_root(kApp);
    heap_.add_root(kFirst + 0x600);
    heap_.add_array(kFirst, kArray, {kFirst + 0x100, kFirst + 0x200, kFirst + 0x600});
    heap_.add_instance(kFirst + 0x100, kBox, {kFirst + 0x300}, {});
    heap_.add_instance(kFirst + 0x200, kBox, {kFirst + 0x400}, {});
    heap_.add_bytes(kFirst + 0x300, 84);
    heap_.add_bytes(kFirst + 0x400, 184);
    heap_.add_instance(kFirst + 0x600, kBox, {0}, {});
    for (std::uint64_t i = 0; i < 50; ++i)
      heap_.add_instance(kFirst + 0x1000 + 16 * i, kLink, {i == 49 ? 0 : kFirst + 0x1000 + 16 * (i + 1)}, {});
    text_ = heap_.dump();
    graph_ = test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text_), "dump")), HeapShape{}));
  }
  // "DEPTH COUNT NAME RETAINED" of those that retain so much.
  std::vector<std::string> rows(std::uint64_t least, int deepest = 100) {
    const HeapTree tree(*graph_);
    made_ = class_tree(tree, least, deepest);
    reachable_ = tree.reachable();
    std::vector<std::string> rows;
    for (const ClassNode& node : made_.nodes)
      rows.push_back(std::to_string(node.depth) + " " + std::to_string(node.objects) + " " + node.name + " " +
                     std::to_string(node.retained));
    return rows;
  }
  std::uint64_t sum() const {
    std::uint64_t sum = made_.rest;
    for (const ClassNode& node : made_.nodes) sum += node.shallow + node.rest;
    return sum;
  }
  HprofBuilder heap_;
  std::string text_;
  std::unique_ptr<ObjectGraph> graph_;
  ClassTree made_;
  std::uint64_t reachable_ = 0;
};

TEST_F(ClassesThatKeep, AreMergedBelowEachOther) {
  EXPECT_THAT(rows(100), ElementsAre(testing::StartsWith("0 1 class App "), "1 50 Link 800",
                                     "1 1 java.lang.Object[] 368", "2 2 Box 336", "3 2 byte[] 304"));
  EXPECT_EQ(sum(), reachable_);
}

TEST_F(ClassesThatKeep, HaveWhatIsLeftOut) {
  EXPECT_THAT(rows(100, 1),
              ElementsAre(testing::StartsWith("0 1 class App "), "1 50 Link 800", "1 1 java.lang.Object[] 368"));
  EXPECT_EQ(made_.nodes[2].rest, 336u) << "the boxes";
  EXPECT_EQ(sum(), reachable_);
  rows(0);
  EXPECT_EQ(made_.rest, 0u);
  EXPECT_EQ(sum(), reachable_);
}

TEST_F(ClassesThatKeep, DoNotRepeatThemselvesAlongAList) {
  rows(0);
  const auto links =
      std::count_if(made_.nodes.begin(), made_.nodes.end(), [](const ClassNode& node) { return node.name == "Link"; });
  EXPECT_EQ(links, 1);
}

}  // namespace
}  // namespace jtrace::coreinspect
