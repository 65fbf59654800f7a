// The ranges of a heap that hold objects: by the rules of each collector and family of JDKs, on made-up heaps.
#include "coreinspect/gc/heap_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/gc/space_words.h"
#include "tests/unit/coreinspect/gc/made_up_heap.h"

namespace jtrace::coreinspect {
namespace {

using test::MadeUpVm;
using test::must;
using test::release_of;
using Heap = test::MadeUpHeap;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Address kHeap = test::kHeap, kMega = test::kMega, kRegions = test::kRegions;

// --- Serial: three spaces of the young generation and one of the old.

class SerialHeaps : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, SerialHeaps, ::testing::Values(8, 11, 17, 21, 25, 27),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(SerialHeaps, AreFourSpaces) {
  const int jdk = GetParam();
  Heap heap(jdk, "UseSerialGC");
  constexpr Address kYoung = 0x1100000, kOld = 0x1200000;
  // JDK 8 has an array of generations, 9 and later a field for each; 22 moved them to SerialHeap.
  if (jdk == 8) heap.vm.field("GenCollectedHeap", "_gens", 16);
  const char* type = jdk < 22 ? "GenCollectedHeap" : "SerialHeap";
  if (jdk != 8) {
    heap.vm.field(type, "_young_gen", 16);
    heap.vm.field(type, "_old_gen", 24);
  }
  heap.vm.words(kHeap + 16, {kYoung, kOld});
  heap.vm.field("DefNewGeneration", "_eden_space", 0);
  heap.vm.field("DefNewGeneration", "_from_space", 8);
  heap.vm.field("DefNewGeneration", "_to_space", 16);
  heap.vm.field(jdk == 8 ? "OneContigSpaceCardGeneration" : "TenuredGeneration", "_the_space", 0);
  // Up to JDK 21 bottom and end are fields of Space, and top of ContiguousSpace, which has all of them from 22 on.
  heap.vm.field(jdk < 22 ? "Space" : "ContiguousSpace", "_bottom", 0);
  heap.vm.field(jdk < 22 ? "Space" : "ContiguousSpace", "_end", 8);
  heap.vm.field("ContiguousSpace", "_top", 16);
  constexpr Address kSpaces = 0x1300000;
  heap.vm.words(kYoung, {kSpaces, kSpaces + 64, kSpaces + 128});
  heap.vm.words(kOld, {kSpaces + 192});
  heap.vm.words(kSpaces, {Heap::at(0), Heap::at(4), Heap::at(3)});
  heap.vm.words(kSpaces + 64, {Heap::at(5), Heap::at(6), Heap::at(5.5)});
  heap.vm.words(kSpaces + 128, {Heap::at(4), Heap::at(5), Heap::at(4)});
  heap.vm.words(kSpaces + 192, {Heap::at(10), Heap::at(20), Heap::at(11)});
  ASSERT_THAT(heap.regions(),
              ElementsAre("eden 0-4 used 3", "to 4-5 used 0", "survivor 5-6 used 0.5", "old 10-20 used 1"));
  EXPECT_EQ(heap.layout.collector, "Serial");
  EXPECT_EQ(heap.layout.collections, 7u);
  EXPECT_EQ(heap.layout.used(), 9 * kMega / 2);
  EXPECT_TRUE(heap.layout.regions[0].young);
  EXPECT_FALSE(heap.layout.regions[3].young);
  const auto words = must(contiguous_space_words(heap.vm.open()));
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[0].bottom, kSpaces);
  EXPECT_EQ(words[0].top, kSpaces + 16);
  EXPECT_EQ(words[3].top, kSpaces + 192 + 16);
}

// --- Parallel: up to JDK 25 its generations are static variables.

class ParallelHeaps : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, ParallelHeaps, ::testing::Values(8, 17, 25, 27),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(ParallelHeaps, AreFourSpaces) {
  const int jdk = GetParam();
  Heap heap(jdk, "UseParallelGC");
  constexpr Address kYoung = 0x1100000, kOld = 0x1200000, kSpaces = 0x1300000;
  if (jdk <= 25) {
    heap.vm.variable("ParallelScavengeHeap", "_young_gen", kYoung);
    heap.vm.variable("ParallelScavengeHeap", "_old_gen", kOld);
  } else {
    heap.vm.field("ParallelScavengeHeap", "_young_gen", 16);
    heap.vm.field("ParallelScavengeHeap", "_old_gen", 24);
    heap.vm.words(kHeap + 16, {kYoung, kOld});
  }
  heap.vm.field("PSYoungGen", "_eden_space", 0);
  heap.vm.field("PSYoungGen", "_from_space", 8);
  heap.vm.field("PSYoungGen", "_to_space", 16);
  heap.vm.field("PSOldGen", "_object_space", 0);
  heap.vm.field(jdk < 17 ? "ImmutableSpace" : "MutableSpace", "_bottom", 0);
  heap.vm.field(jdk < 17 ? "ImmutableSpace" : "MutableSpace", "_end", 8);
  heap.vm.field("MutableSpace", "_top", 16);
  heap.vm.words(kYoung, {kSpaces, kSpaces + 64, kSpaces + 128});
  heap.vm.words(kOld, {kSpaces + 192});
  heap.vm.words(kSpaces, {Heap::at(10), Heap::at(14), Heap::at(11)});
  heap.vm.words(kSpaces + 64, {Heap::at(15), Heap::at(16), Heap::at(15.25)});
  heap.vm.words(kSpaces + 128, {Heap::at(14), Heap::at(15), Heap::at(14)});
  heap.vm.words(kSpaces + 192, {Heap::at(0), Heap::at(8), Heap::at(2)});
  ASSERT_THAT(heap.regions(),
              ElementsAre("old 0-8 used 2", "eden 10-14 used 1", "to 14-15 used 0", "survivor 15-16 used 0.25"));
  EXPECT_EQ(must(contiguous_space_words(heap.vm.open())).size(), 4u);
  const auto survivor = must(survivor_words(heap.vm.open()));
  ASSERT_TRUE(survivor);
  EXPECT_EQ(survivor->pointer, kYoung + 8);
  EXPECT_EQ(survivor->bottom, 0u);
  EXPECT_EQ(survivor->end, 8u);
  EXPECT_FALSE(must(survivor_words(Heap(jdk, "UseG1GC").vm.open())));
}

TEST(ParallelHeap, OfSeveralNodesHasNoSpaceWords) {
  Heap heap(17, "UseParallelGC");
  heap.vm.flag("UseNUMA", true);
  EXPECT_THAT(must(contiguous_space_words(heap.vm.open())), IsEmpty()) << "eden is several spaces";
}

// --- G1: regions of one size, distinguished by a tag.

enum Tag { kFree = 0, kEden = 2, kSurvivor = 3, kHumongous = 12, kContinues = 20, kOld = 16, kArchive = 32 };

class G1Heap : public Heap {
 public:
  explicit G1Heap(int jdk) : Heap(jdk, "UseG1GC") {
    const std::string prefix = jdk < 24 ? "" : "G1", region = prefix + "HeapRegion";
    if (jdk >= 24) vm.type("G1HeapRegion", 64);
    vm.variable(region, "GrainBytes", kMega);
    vm.field("G1CollectedHeap", "_hrm", 16);
    vm.field(prefix + "HeapRegionManager", "_regions", 8);
    vm.field("G1HeapRegionTable", "_base", 0);
    vm.field("G1HeapRegionTable", "_length", 8);
    const char* bounds = jdk == 8 ? "G1OffsetTableContigSpace" : jdk == 11 ? "G1ContiguousSpace" : region.c_str();
    vm.field(jdk <= 11 ? "Space" : region, "_bottom", 0);
    vm.field(jdk <= 11 ? "Space" : region, "_end", 8);
    vm.field(bounds, "_top", 16);
    if (jdk == 8) return;
    vm.field(region, "_type", 24);
    vm.field(prefix + "HeapRegionType", "_tag", 8);
    for (const auto& [name, tag] : {std::pair{"FreeTag", kFree},
                                    {"EdenTag", kEden},
                                    {"SurvTag", kSurvivor},
                                    {"StartsHumongousTag", kHumongous},
                                    {"ContinuesHumongousTag", kContinues},
                                    {"ArchiveMask", kArchive}})
      vm.constant(prefix + "HeapRegionType::" + name, tag);
  }
  void region(double start, double end, double top, int tag) {
    const Address at = kRegions + table_.size() * 64;
    vm.words(at, {Heap::at(start), Heap::at(end), Heap::at(top), 0, static_cast<Address>(tag)});
    table_.push_back(at);
  }
  void hole() { table_.push_back(0); }  // not committed
  std::vector<std::string> regions() {
    vm.words(kHeap + 24, {0x1500000, table_.size()});
    vm.words(0x1500000, table_);
    return Heap::regions();
  }

 private:
  std::vector<Address> table_;
};

class G1Heaps : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, G1Heaps, ::testing::Values(11, 17, 21, 25, 27),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(G1Heaps, AreRegionsByTheirTags) {
  G1Heap heap(GetParam());
  heap.region(0, 1, 0.5, kEden);
  heap.region(1, 2, 2, kSurvivor);
  heap.hole();
  heap.region(3, 4, 3.25, kOld);
  heap.region(4, 5, 4.75, kFree);
  heap.region(5, 6, 6, kOld | kArchive);
  ASSERT_THAT(heap.regions(), ElementsAre("eden 0-1 used 0.5", "survivor 1-2 used 1", "old 3-4 used 0.25",
                                          "free 4-5 used 0", "archive 5-6 used 1"))
      << "a free region holds nothing, whatever its top says";
  EXPECT_EQ(heap.layout.region_size, kMega);
  EXPECT_TRUE(heap.layout.regions[1].young);
}

TEST_P(G1Heaps, RegionsOfAHumongousObjectAreOne) {
  G1Heap heap(GetParam());
  heap.region(0, 1, 1, kHumongous);
  heap.region(1, 2, 2, kContinues);
  heap.region(2, 3, 2.5, kContinues);
  heap.region(3, 4, 4, kHumongous);
  heap.region(4, 5, 4.5, kOld);
  ASSERT_THAT(heap.regions(), ElementsAre("humongous! 0-3 used 2.5", "humongous! 3-4 used 1", "old 4-5 used 0.5"));
}

// JDK 8 exports no tags: the end of a humongous object's first region is the end of its last.
TEST(G1HeapOf8, RegionsOfAHumongousObjectAreOne) {
  G1Heap heap(8);
  heap.region(0, 1, 0.5, 0);
  heap.region(1, 4, 3.5, 0);
  heap.region(2, 3, 3, 0);
  heap.region(3, 4, 3.5, 0);
  heap.region(4, 5, 4, 0);
  ASSERT_THAT(heap.regions(), ElementsAre("regular 0-1 used 0.5", "humongous! 1-4 used 2.5", "free 4-5 used 0"));
}

// Overlapping or reversed regions would be walked twice or for ever.
TEST_P(G1Heaps, ImpossibleRegionsAreLeftOutAndCounted) {
  G1Heap heap(GetParam());
  heap.region(0, 1, 0.5, kOld);
  heap.region(0.5, 1.5, 1, kOld);  // overlaps
  heap.region(2, 3, 4, kOld);      // its top is after its end
  ASSERT_THAT(heap.regions(), ElementsAre("old 0-1 used 0.5"));
  EXPECT_THAT(heap.layout.missing, Contains(StartsWith("2 regions of the heap are impossible")));
}

// --- Shenandoah: regions of one size with a state.

class ShenandoahHeaps : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, ShenandoahHeaps, ::testing::Values(11, 17, 25),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(ShenandoahHeaps, AreRegionsByTheirStates) {
  Heap heap(GetParam(), "UseShenandoahGC");
  heap.vm.variable("ShenandoahHeapRegion", "RegionSizeBytes", kMega);
  heap.vm.field("ShenandoahHeap", "_num_regions", 16);
  constexpr Address kTable = 0x1500000;
  if (GetParam() == 11) {  // it does not export the table of regions, which is found in the heap object by its contents
    heap.vm.type("ShenandoahHeap", 256);
    heap.vm.type("ShenandoahHeapRegion", 96);
  } else {
    heap.vm.field("ShenandoahHeap", "_regions", 40);
    const std::pair<const char*, int> fields[] = {
        {"_index", 0}, {"_bottom", 8}, {"_end", 16}, {"_state", 40}, {"_top", 48}};
    for (const auto& [name, offset] : fields)
      heap.vm.field("ShenandoahHeapRegion", name, static_cast<std::uint64_t>(offset));
  }
  // State and top of regions 0 to 9.
  const std::pair<int, double> states[] = {{0, 0},   {1, 1},   {2, 2.5}, {3, 4},   {4, 4.5},
                                           {5, 5.5}, {6, 6.5}, {7, 7.5}, {8, 8.5}, {9, 9.5}};
  std::vector<Address> table;
  for (const auto& [state, top] : states) {
    const Address at = kRegions + table.size() * 96, index = table.size();
    heap.vm.words(at, {index, Heap::at(static_cast<double>(index)), Heap::at(static_cast<double>(index) + 1), 0, 0,
                       static_cast<Address>(state), Heap::at(top)});
    table.push_back(at);
  }
  heap.vm.words(kTable, table);
  heap.vm.word(kHeap + 16, table.size());
  heap.vm.word(kHeap + 40, kTable);
  ASSERT_THAT(heap.regions(),
              ElementsAre("free 0-1 used 0", "free 1-2 used 0", "regular 2-3 used 0.5", "humongous! 3-5 used 1.5",
                          "humongous! 5-6 used 0.5", "collection-set 6-7 used 0.5", "pinned 7-8 used 0.5",
                          "collection-set 8-9 used 0.5", "trash 9-10 used 0"));
  EXPECT_TRUE(heap.layout.regions[2].forwarding) << "what was copied away counts where it is now";
}

// The one word from which ShenandoahHeap::used() reads.
TEST(ShenandoahHeap, CountsWhatIsUsedInOneWord) {
  Heap old(17, "UseShenandoahGC"), generational(25, "UseShenandoahGC"), newest(27, "UseShenandoahGC");
  old.vm.field("ShenandoahHeap", "_used", 48);
  const auto words = must(space_words(old.vm.open()));
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].top, kHeap + 48);
  EXPECT_EQ(words[0].bottom, 0u);
  constexpr Address kHolder = 0x1500000;
  generational.vm.field("ShenandoahHeap", "_global_generation", 56);
  generational.vm.field("ShenandoahGeneration", "_used", 24);
  generational.vm.word(kHeap + 56, kHolder);
  EXPECT_EQ(must(space_words(generational.vm.open())).front().top, kHolder + 24);
  newest.vm.field("ShenandoahHeap", "_free_set", 64);
  newest.vm.field("ShenandoahFreeSet", "_total_global_used", 32);
  newest.vm.word(kHeap + 64, kHolder);
  EXPECT_EQ(must(space_words(newest.vm.open())).front().top, kHolder + 32);
  EXPECT_THAT(must(space_words(Heap(17, "UseShenandoahGC").vm.open())), IsEmpty()) << "the JVM does not export it";
  EXPECT_THAT(must(space_words(Heap(8, "UseConcMarkSweepGC").vm.open())), IsEmpty());
}

// --- All collectors.

TEST(HeapLayouts, OfACollectorThatNobodyKnowsAreRefused) {
  MadeUpVm vm("17.0.1+1");
  vm.variable("Universe", "_collectedHeap", kHeap);
  const auto layout = read_heap_layout(vm.open());
  ASSERT_FALSE(layout);
  EXPECT_THAT(layout.error().message(), HasSubstr("collector is not known"));
}

TEST(HeapLayouts, OfAJvmThatIsStartingAreRefused) {
  MadeUpVm vm("17.0.1+1");
  vm.flag("UseSerialGC", true);
  vm.variable("Universe", "_collectedHeap", 0);
  const auto layout = read_heap_layout(vm.open());
  ASSERT_FALSE(layout);
  EXPECT_THAT(layout.error().message(), HasSubstr("no heap yet"));
}

// --- Holes: the rest of a thread's allocation buffer.

class Buffers : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, Buffers, ::testing::Values(8, 11, 17, 25),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(Buffers, AreHolesFromTheirTopToTheirEndWithTheReserve) {
  const int jdk = GetParam();
  MadeUpVm vm(release_of(jdk));
  constexpr Address kThreads = 0x1100000;
  const auto thread = [&](int number) { return kThreads + static_cast<Address>(number) * 0x1000; };
  if (jdk == 8) {
    vm.variable("Threads", "_thread_list", thread(1));
    vm.field("JavaThread", "_next", 8);
    for (int i = 1; i <= 3; ++i) vm.word(thread(i) + 8, i < 3 ? thread(i + 1) : 0);
  } else {
    vm.variable("ThreadsSMRSupport", "_java_thread_list", kThreads);
    vm.field("ThreadsList", "_length", 0);
    vm.field("ThreadsList", "_threads", 8);
    vm.words(kThreads, {3, kThreads + 32, 0, 0, thread(1), thread(2), thread(3)});
  }
  vm.field("Thread", "_tlab", 16);
  vm.field("ThreadLocalAllocBuffer", "_start", 0);
  vm.field("ThreadLocalAllocBuffer", "_top", 8);
  vm.field("ThreadLocalAllocBuffer", "_end", 16);
  // From JDK 11 on heap sampling may lower _end: the next word is the buffer's end.
  vm.words(thread(1) + 16, {0x8000, 0x8100, jdk < 11 ? Address{0x9000} : Address{0x8200}, 0x9000});
  vm.words(thread(2) + 16, {0, 0, 0, 0});                 // it has no buffer
  vm.words(thread(3) + 16, {0x7000, 0x6000, 0x8000, 0});  // an impossible buffer
  const auto holes = must(read_tlab_holes(vm.open()));
  EXPECT_THAT(holes, ElementsAre(AddressRange{0x8100, 0x9000 + 16, 0x8000}));
}

}  // namespace
}  // namespace jtrace::coreinspect
