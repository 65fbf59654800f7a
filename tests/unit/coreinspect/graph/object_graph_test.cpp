// Heap dumps, whole and damaged, and the graph that is made of them.
#include "coreinspect/graph/object_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/graph/heap_tree.h"
#include "coreinspect/graph/shortest_paths.h"
#include "tests/testlib/effort.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kObject = 0x1000, kPair = 0x1100, kWeak = 0x1200;

// A pair of two, of which the second is held by a weak reference too, and one that only the weak reference holds.
std::string small_dump() {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_class(kPair, "Pair", kObject, {"one", "other"});
  builder.add_class(0x1300, "java/lang/ref/Reference", kObject, {"referent"});
  builder.add_class(kWeak, "java/lang/ref/WeakReference", 0x1300, {});
  builder.add_instance(0x2000, kPair, {0x2100, 0x2200});
  builder.add_instance(0x2100, kPair, {0, 0x2000});
  builder.add_bytes(0x2200, 100);
  builder.add_instance(0x2300, kWeak, {0x2200});
  builder.add_instance(0x2400, kWeak, {0x2500});
  builder.add_bytes(0x2500, 10);
  builder.add_bytes(0x2600, 10);
  for (const std::uint64_t root : {kObject, kPair, kWeak, std::uint64_t{0x1300}, std::uint64_t{0x2000},
                                   std::uint64_t{0x2300}, std::uint64_t{0x2400}})
    builder.add_root(root);
  return builder.dump();
}

std::unique_ptr<ObjectGraph> graph_of(const std::string& dump) {
  return test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}));
}

std::string refusal(const std::string& dump) {
  const auto file = HprofFile::of_view(bytes_of(dump), "dump");
  return file ? "" : file.error().message();
}

TEST(ObjectGraph, KnowsStrengthsAndSizes) {
  const std::string dump = small_dump();
  const auto graph = graph_of(dump);
  EXPECT_THAT(graph->missing(), IsEmpty());
  const auto strength = [&](std::uint64_t address) { return graph->strength(graph->find(address)); };
  EXPECT_EQ(strength(0x2200), Strength::kStrong);
  EXPECT_EQ(strength(0x2500), Strength::kWeak);
  EXPECT_EQ(strength(0x2600), Strength::kGarbage);
  EXPECT_EQ(graph->bytes(graph->find(0x2200)), 16u + 104);
  EXPECT_EQ(graph->bytes(graph->find(0x2000)), 24u);  // a header of 12, two references of 4
  EXPECT_EQ(graph->name(graph->find(kPair)), "class Pair");
}

TEST(HeapTree, GivesAnObjectToThoseThatHoldItMostStrongly) {
  const std::string dump = small_dump();
  const auto graph = graph_of(dump);
  const HeapTree tree(*graph);
  EXPECT_EQ(tree.dominator(graph->find(0x2200)), graph->find(0x2000)) << "the weak reference does not share it";
  EXPECT_EQ(tree.retained(graph->find(0x2000)), 24u + 24 + 120);
  EXPECT_EQ(tree.dominator(graph->find(0x2500)), graph->find(0x2400));
  EXPECT_EQ(tree.retained(graph->find(0x2600)), 0u);
}

TEST(ShortestPaths, NameTheFields) {
  const std::string dump = small_dump();
  const auto graph = graph_of(dump);
  const ShortestPaths paths(*graph);
  std::vector<std::string> steps;
  for (const auto& step : paths.to(graph->find(0x2200))) steps.push_back(step.edge + " " + graph->name(step.object));
  EXPECT_THAT(steps, ElementsAre(" Pair", ".other byte[]"));
  EXPECT_THAT(paths.to(graph->find(0x2600)), IsEmpty());
}

TEST(HprofFile, ThatIsNoneIsRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("\x7f"
                      "ELF and more than that"),
              HasSubstr("an ELF file"));
  EXPECT_THAT(refusal(std::string("JAVA PROFILE 1.0.3\0\0\0\0\x04", 23)), HasSubstr("Android"));
  EXPECT_THAT(refusal("JAVA PROFILE 1.0.2"), HasSubstr("header"));
  EXPECT_THAT(refusal(std::string("JAVA PROFILE 1.0.2\0\0\0\0\x05\0\0\0\0\0\0\0\0", 31)), HasSubstr("ids of 5 bytes"));
}

// Wherever it ends, what is before is read, and it is said.
TEST(HprofFile, ThatIsCutIsReadUpToThere) {
  const std::string dump = small_dump();
  const std::uint32_t whole = graph_of(dump)->size();
  for (std::size_t size = 31; size < dump.size(); ++size) {
    const std::string cut = dump.substr(0, size);
    const auto graph = ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(cut), "dump")), HeapShape{});
    if (!graph) {
      EXPECT_THAT(graph.error().message(), HasSubstr("the heap dump has no objects"));
      continue;
    }
    EXPECT_LE((*graph)->size(), whole);
    (void)HeapTree(**graph);
  }
  EXPECT_THAT(graph_of(dump.substr(0, dump.size() - 40))->missing().front(), HasSubstr("is cut"));
}

TEST(HprofFile, WithAnUnknownPartLosesTheRestOfTheSegment) {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.segment().u1(0x99);
  builder.segment().u8(0);
  builder.end_segment();
  builder.add_bytes(0x2000, 3);
  builder.add_root(0x2000);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->size(), 2u);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("9 bytes of the heap dump could not be read")));
}

TEST(HprofFile, WithAnImpossibleCountIsNotBelieved) {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_root(kObject);
  builder.segment().sub(HprofSub::kObjectArrayDump);
  builder.segment().id(0x2000);
  builder.segment().u4(1);
  builder.segment().u4(0xffff'ffff);
  builder.segment().id(kObject);
  const std::string dump = builder.dump();
  EXPECT_EQ(graph_of(dump)->size(), 1u);
  EXPECT_THAT(graph_of(dump)->missing(), ElementsAre(HasSubstr("could not be read")));
}

TEST(ObjectGraph, OfClassesThatAreTheirOwnSuperclassEnds) {
  HprofBuilder builder;
  builder.add_class(0x1000, "A", 0x1100, {"a"});
  builder.add_class(0x1100, "B", 0x1000, {"b"});
  builder.add_class(0x1200, "C", 0x1200, {"c"});
  builder.add_instance(0x2000, 0x1000, {0x2000});
  builder.add_instance(0x2008, 0x9999, {0x2000});
  builder.add_instance(0x2000, 0x1200, {});
  builder.add_root(0x2000);
  builder.add_root(0x7777);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_THAT(graph->missing(),
              ElementsAre(HasSubstr("twice"), HasSubstr("1 root leads to no object"), HasSubstr("other fields")));
  (void)HeapTree(*graph);
}

TEST(ObjectGraph, WithoutRootsSaysThatItGuesses) {
  HprofBuilder builder;
  builder.add_bytes(0x2000, 3);
  const std::string dump = builder.dump();
  EXPECT_THAT(graph_of(dump)->missing(), ElementsAre(HasSubstr("no roots")));
}

// Ids that are no addresses: close together, or one in a gigabyte.
TEST(ObjectIndex, FindsIdsOfAnyKind) {
  for (const std::vector<std::uint64_t>& ids :
       {std::vector<std::uint64_t>{1, 2, 3, 9}, {8, 16, 80, 8000}, {1ull << 30, 5ull << 30, 1ull << 63, ~0ull}}) {
    ObjectIndex::Range range;
    for (const std::uint64_t id : ids) range.add(id);
    ObjectIndex index(range);
    for (const std::uint64_t id : ids) index.add(id);
    index.add(ids.front());
    index.finish();
    EXPECT_EQ(index.size(), ids.size());
    EXPECT_EQ(index.twice(), 1u);
    for (std::uint32_t i = 0; i < ids.size(); ++i) EXPECT_EQ(index.find(ids[i]), i);
    EXPECT_EQ(index.find(ids[1] + 1 == ids[2] ? 5 : ids[1] + 1), kNoObject);
    EXPECT_EQ(index.find(0), kNoObject);
  }
}

// Generations are far apart: what lies between them takes no memory, and lonely ids none of a page each.
TEST(ObjectIndex, TakesMemoryOnlyWhereObjectsAre) {
  for (const std::uint64_t step : {8ull, 512ull, 8192ull}) {
    ObjectIndex::Range range;
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = 0; i < test::effort(500'000u, 60'000u); ++i)
      ids.push_back((i % 2 == 0 ? 0x7'0000'0000 : 0x8'0000'0000) + i / 2 * step);
    for (const std::uint64_t id : ids) range.add(id);
    ObjectIndex index(range);
    for (const std::uint64_t id : ids) index.add(id);
    index.add(ids.back());
    index.finish();
    std::sort(ids.begin(), ids.end());
    ASSERT_EQ(index.size(), ids.size());
    EXPECT_EQ(index.twice(), 1u);
    for (std::uint32_t i = 0; i < ids.size(); ++i) ASSERT_EQ(index.find(ids[i]), i) << step;
    EXPECT_EQ(index.find(0x7'f000'0000), kNoObject);
    EXPECT_EQ(index.find(ids.back() + 8), kNoObject);
    EXPECT_EQ(index.find(~0ull), kNoObject);
  }
}

// Objects have numbers of 32 bits, of which the last is none and one more is needed for all roots together.
TEST(ObjectGraph, RefusesMoreObjectsThanItHasNumbersFor) {
  constexpr std::uint64_t kAnyRoom = ~std::uint64_t{0};
  EXPECT_TRUE(ObjectGraph::check_count(0xffff'fffd, kAnyRoom));
  for (const std::uint64_t count : {0xffff'fffeull, 0x1'0000'0000ull, 5'000'000'000ull, ~0ull}) {
    const auto refused = ObjectGraph::check_count(count, kAnyRoom);
    ASSERT_FALSE(refused) << count;
    EXPECT_EQ(refused.error().category, ErrorCategory::kRefused);
    EXPECT_THAT(refused.error().message(), HasSubstr(std::to_string(count) + " objects"));
  }
}

TEST(ObjectGraph, RefusesWhatTheFreeMemoryDoesNotHold) {
  EXPECT_TRUE(ObjectGraph::check_count(1'000'000'000, 50ull << 30));
  const auto refused = ObjectGraph::check_count(1'000'000'000, 8ull << 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().category, ErrorCategory::kRefused);
  EXPECT_THAT(refused.error().message(), HasSubstr("1000000000 objects"));
  EXPECT_THAT(refused.error().message(), HasSubstr("8.0 GiB are free"));
  EXPECT_FALSE(refused.error().help.empty());
}

TEST(ObjectGraph, IsTheSameWithSeveralThreads) {
  HprofBuilder builder;
  constexpr std::uint64_t kPairs = 60'000, kFirst = 0x100000;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_class(0x1200, "java/lang/ref/Reference", kObject, {"referent"});
  builder.add_class(0x1300, "java/lang/ref/WeakReference", 0x1200, {});
  builder.add_class(0x1400, "Three", kObject, {"one", "two", "three"});
  const auto id = [](std::uint64_t i) { return kFirst + i % kPairs * 0x20; };
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    if (i % 7 == 3) builder.add_instance(id(i), 0x1300, {id(i * 31)});
    else builder.add_instance(id(i), 0x1400, {id(2 * i + 1), i % 5 == 0 ? 0 : id(2 * i + 2), i % 3 == 0 ? 0x42u : 0u});
  }
  builder.add_root(id(0));
  const std::string dump = builder.dump();
  const auto graph_with = [&](unsigned threads) {
    return test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}, threads));
  };
  const auto one = graph_with(1), several = graph_with(4);
  EXPECT_EQ(one->missing(), several->missing());
  const HeapTree tree_of_one(*one), tree_of_several(*several);
  for (std::uint32_t i = 0; i < one->size(); ++i) {
    ASSERT_EQ(one->strength(i), several->strength(i)) << i;
    ASSERT_EQ(tree_of_one.retained(i), tree_of_several.retained(i)) << i;
    ASSERT_EQ(tree_of_one.dominator(i), tree_of_several.dominator(i)) << i;
  }
  EXPECT_GT(tree_of_one.by_strength()[static_cast<std::size_t>(Strength::kWeak)].objects, 100u);
}

TEST(PackedSizes, HaveSumsBeyond32Bits) {
  PackedSizes sizes;
  sizes.assign(2);
  EXPECT_EQ(sizes[1], 0u);
  sizes.set(1, 0xffff'fff8u);
  sizes.add(1, 16);
  EXPECT_EQ(sizes[1], 0x1'0000'0008u);
  sizes.add(1, 4ull << 40);
  EXPECT_EQ(sizes[1], (4ull << 40) + 0x1'0000'0008u);
  EXPECT_EQ(sizes[0], 0u);
}

// Objects of a class, so far from each other.
std::string spread(std::uint64_t distance) {
  HprofBuilder builder;
  builder.add_class(0x1000, "java/lang/Object", 0, {});
  builder.add_class(0x1100, "Cell", 0x1000, {"of"});
  for (std::uint64_t i = 0; i < 20; ++i) {
    builder.add_instance(0x10000 + i * distance, 0x1100, {0});
    builder.add_root(0x10000 + i * distance);
  }
  builder.add_bytes(0x10000 + 20 * distance, 1);
  return builder.dump();
}

TEST(ObjectGraph, KnowsTheSizesOfAJvmAndForgetsThem) {
  const std::string dump = spread(0x100);
  const RealSizes sizes{.of_class = {{0x1100, {.bytes = 148}}}, .of_object = {{0x1000, 112}}};
  const auto graph =
      test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}, 1, sizes));
  const std::uint32_t cell = graph->find(0x10000), mirror = graph->find(0x1000);
  EXPECT_EQ(graph->bytes(cell), 152u);
  EXPECT_EQ(graph->padding(cell), 152u - 16);
  EXPECT_EQ(graph->bytes(mirror), 112u);
  EXPECT_EQ(HeapTree(*graph).retained(cell), 152u);
  graph->forget_real_sizes();
  EXPECT_EQ(graph->bytes(cell), 16u);
  EXPECT_LT(graph->bytes(mirror), 112u);
}

// They need 16 bytes, and a collector leaves gaps too.
TEST(ObjectGraph, SuspectsLargerObjectsWhereAllHaveRoom) {
  const auto undersized = [](std::uint64_t distance, std::uint64_t least) {
    const std::string dump = spread(distance);
    const auto graph =
        test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), std::nullopt));
    return graph->undersized_classes(least);
  };
  EXPECT_THAT(undersized(0x100, 1000), ElementsAre("Cell"));
  EXPECT_THAT(undersized(0x100, 100'000), ::testing::IsEmpty());
  EXPECT_THAT(undersized(0x20, 0), ::testing::IsEmpty());
}

}  // namespace
}  // namespace jtrace::coreinspect
