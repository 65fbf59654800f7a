// Packages, loaders and threads of a made-up heap, and what each retains.
#include "coreinspect/graph/heap_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kObject = 0x1000, kLoader = 0x1100, kOwn = 0x1200, kShop = 0x1300, kThread = 0x1400,
                        kBytes = 0x1500, kString = 0x1600, kArray = 0x1700, kFirst = 0x10000;

// Two app.Own loaders: each has loaded a class shop.Shop with one object that holds another of the same loader and 84
// bytes. A thread "worker" with a local that only it holds.
class GroupedHeap : public ::testing::Test {
 protected:
  GroupedHeap() {
    heap_.add_class(kObject, "java/lang/Object", 0, {});
    heap_.add_class(kLoader, "java/lang/ClassLoader", kObject, {"name"});
    heap_.add_class(kOwn, "app/Own", kLoader, {});
    heap_.add_class(kString, "java/lang/String", kObject, {"value"}, {.ints = {"coder"}});
    heap_.add_class(kThread, "java/lang/Thread", kObject, {"name"});
    heap_.add_class(kBytes, "[B", kObject, {});
    heap_.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    for (std::uint64_t i = 0; i < 2; ++i) {
      const std::uint64_t loader = kFirst + 0x1000 * i, shop = kShop + 0x10000 * i;
      heap_.add_instance(loader, kOwn, {0}, {});
      heap_.add_class(shop, "shop/Shop", kObject, {"next", "content"},
                      {.loader = loader, .statics = {{"ONE", loader + 0x100}}});
      heap_.add_instance(loader + 0x100, shop, {loader + 0x200, loader + 0x300}, {});
      heap_.add_instance(loader + 0x200, shop, {0, 0}, {});
      heap_.add_bytes(loader + 0x300, 84);
      heap_.add_root(shop);
    }
    heap_.add_instance(kFirst + 0x5000, kThread, {kFirst + 0x5100}, {});
    heap_.add_instance(kFirst + 0x5100, kString, {kFirst + 0x5200}, {0});
    heap_.add_text(kFirst + 0x5200, "worker");
    heap_.add_bytes(kFirst + 0x6000, 1000);
    heap_.add_thread(kFirst + 0x5000, 1);
    heap_.add_local(kFirst + 0x6000, 1);
    text_ = heap_.dump();
    graph_ = test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text_), "dump")), HeapShape{}));
    tree_.emplace(*graph_);
  }
  // "NAME MEMBERS OBJECTS".
  std::vector<std::string> groups(Grouping by) {
    std::vector<std::string> found;
    for (const HeapGroup& each : heap_groups(*tree_, by))
      found.push_back(each.name + " " + std::to_string(each.members) + " " + std::to_string(each.sum.objects));
    return found;
  }
  const HeapGroup* group(const std::vector<HeapGroup>& all, const std::string& name) {
    for (const HeapGroup& each : all)
      if (each.name == name) return &each;
    return nullptr;
  }
  HprofBuilder heap_;
  std::string text_;
  std::unique_ptr<ObjectGraph> graph_;
  std::optional<HeapTree> tree_;
};

TEST_F(GroupedHeap, HasEachLoaderWithItsClassesAndTheirObjects) {
  EXPECT_THAT(groups(Grouping::kLoader), IsSupersetOf({"app.Own 1 4", "app.Own 1 4"}));
  const auto all = heap_groups(*tree_, Grouping::kLoader);
  const HeapGroup* own = group(all, "app.Own");
  ASSERT_NE(own, nullptr);
  const std::uint32_t shop = graph_->find(kShop);
  EXPECT_EQ(own->sum.retained, tree_->retained(shop)) << "the class keeps all: its object, the next one, the bytes";
  EXPECT_EQ(own->sum.retained, own->sum.shallow + 16 + 88) << "the bytes are the boot loader's, and kept";
}

TEST_F(GroupedHeap, HasLoadersOfOneKindOnce) {
  EXPECT_THAT(groups(Grouping::kLoaderKind), IsSupersetOf({"app.Own 2 8"}));
}

TEST_F(GroupedHeap, HasPackages) {
  const auto all = heap_groups(*tree_, Grouping::kPackage);
  const HeapGroup* shop = group(all, "shop");
  ASSERT_NE(shop, nullptr);
  EXPECT_EQ(shop->sum.objects, 6u) << "two classes of two objects each";
  ASSERT_NE(group(all, "(no package)"), nullptr) << "int[] and the like";
}

TEST_F(GroupedHeap, HasThreadsWithWhatTheirFramesHold) {
  const auto all = heap_groups(*tree_, Grouping::kThread);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "worker");
  EXPECT_EQ(all[0].sum.objects, 1u);
  EXPECT_EQ(all[0].sum.retained, tree_->retained(graph_->find(kFirst + 0x5000)));
  EXPECT_GT(all[0].sum.retained, 1000u);
}

}  // namespace
}  // namespace jtrace::coreinspect
