// What of a made-up heap is shown, and the paths to it.
#include "coreinspect/graph/shown_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/graph/shown_paths.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kBytes = 0x1300, kLink = 0x1500,
                        kTable = 0x10000, kFirst = 0x100000, kLinks = 1000, kParts = 80;

// static App.TABLE: an array of 80 byte arrays, each larger than the one before; static App.LIST: 1000 links.
class ShownHeap : public ::testing::Test {
 protected:
  ShownHeap() {
    heap_.add_class(kObject, "java/lang/Object", 0, {});
    heap_.add_class(kApp, "App", kObject, {}, {.statics = {{"TABLE", kTable}, {"LIST", kFirst}}});
    heap_.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    heap_.add_class(kBytes, "[B", kObject, {});
    heap_.add_class(kLink, "Link", kObject, {"next"});
    heap_.add_root(kApp);
    std::vector<std::uint64_t> parts;
    for (std::uint64_t i = 0; i < kParts; ++i) parts.push_back(kTable + 0x1000 * (i + 1));
    heap_.add_array(kTable, kArray, parts);
    for (std::uint64_t i = 0; i < kParts; ++i) heap_.add_bytes(parts[i], static_cast<std::uint32_t>(16 + 8 * i));
    for (std::uint64_t i = 0; i < kLinks; ++i)
      heap_.add_instance(kFirst + 16 * i, kLink, {i + 1 == kLinks ? 0 : kFirst + 16 * (i + 1)}, {});
    text_ = heap_.dump();
    graph_ = test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text_), "dump")), HeapShape{}));
    tree_.emplace(*graph_);
  }
  // The nodes with so many objects of this class below the same one, in order.
  std::vector<const ShownNode*> nodes_of(const ShownTree& shown, const std::string& name) const {
    std::vector<const ShownNode*> found;
    for (const ShownNode& node : shown.nodes)
      if (graph_->name(node.object) == name) found.push_back(&node);
    return found;
  }
  HprofBuilder heap_;
  std::string text_;
  std::unique_ptr<ObjectGraph> graph_;
  std::optional<HeapTree> tree_;
};

TEST_F(ShownHeap, HasALongListAsOneNode) {
  const ShownTree shown = shown_tree(*tree_, {});
  const auto links = nodes_of(shown, "Link");
  ASSERT_FALSE(links.empty());
  EXPECT_GT(links.front()->count, kLinks * 9 / 10) << "the end of the list is short enough to be shown link by link";
  EXPECT_EQ(links.front()->shallow, links.front()->count * 16);
  EXPECT_EQ(links.front()->retained, kLinks * 16);
  EXPECT_EQ(links.front()->edge, "static LIST");
}

TEST_F(ShownHeap, HasTheLargestBelowEachAndCountsTheOthers) {
  const ShownTree shown = shown_tree(*tree_, {.below = 3});
  const auto parts = nodes_of(shown, "byte[]");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_THAT((std::vector{parts[0]->edge, parts[1]->edge, parts[2]->edge}), ElementsAre("[79]", "[78]", "[77]"));
  EXPECT_EQ(shown.nodes[parts[0]->above].rest, kParts - 3);
}

TEST_F(ShownHeap, HasAtMostSoManyNodes) {
  const ShownTree shown = shown_tree(*tree_, {.nodes = 5});
  EXPECT_EQ(shown.nodes.size(), 5u);
  std::uint64_t counted = shown.rest;
  for (const ShownNode& node : shown.nodes) counted += node.count + node.rest;
  EXPECT_GE(counted, 5u);
  for (const ShownNode& node : shown.nodes) {
    if (node.above == ShownNode::kNone) continue;
    EXPECT_LE(node.retained, shown.nodes[node.above].retained);
  }
}

TEST_F(ShownHeap, LeavesOutWhatKeepsLittleOrLiesDeep) {
  EXPECT_TRUE(nodes_of(shown_tree(*tree_, {.least = 2000}), "byte[]").empty());
  EXPECT_TRUE(nodes_of(shown_tree(*tree_, {.depth = 2}), "byte[]").empty());
  EXPECT_FALSE(nodes_of(shown_tree(*tree_, {.depth = 3}), "byte[]").empty());
}

TEST_F(ShownHeap, HasAPathFromARootToEach) {
  const ShortestPaths paths(*graph_);
  ShownPaths steps(*graph_, paths);
  const std::uint32_t place = steps.step_of(graph_->find(kTable + 0x1000 * 7));
  ASSERT_NE(place, kNoObject);
  const ShownStep last = steps.steps()[place], table = steps.steps()[last.before];
  EXPECT_EQ(last.edge, "[6]");
  EXPECT_EQ(table.edge, "static TABLE");
  EXPECT_EQ(steps.steps()[table.before].before, kNoObject);
  const std::size_t count = steps.steps().size();
  steps.step_of(graph_->find(kTable + 0x1000 * 8));
  EXPECT_EQ(steps.steps().size(), count + 1) << "paths share their steps";
}

TEST_F(ShownHeap, HasBothEndsOfALongPath) {
  const ShortestPaths paths(*graph_);
  ShownPaths steps(*graph_, paths);
  std::uint64_t objects = 0, skipped = 0;
  for (std::uint32_t i = steps.step_of(graph_->find(kFirst + 16 * (kLinks - 1))); i != kNoObject;
       i = steps.steps()[i].before) {
    objects += steps.steps()[i].object == kNoObject ? 0 : 1;
    skipped += steps.steps()[i].skipped;
  }
  EXPECT_EQ(objects, 2 * ShownPaths::kPathEnd);
  EXPECT_EQ(objects + skipped, kLinks + 1) << "the links and the class";
}

}  // namespace
}  // namespace jtrace::coreinspect
