// The ranges of ZGC's heap that hold objects: pages of several sizes, in a table by granules of 2 MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/gc/space_words.h"
#include "tests/unit/coreinspect/gc/made_up_heap.h"

namespace jtrace::coreinspect {
namespace {

using test::must;
using Heap = test::MadeUpHeap;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Address kHeap = test::kHeap, kMega = test::kMega, kRegions = test::kRegions;

class ZHeap : public Heap {
 public:
  static constexpr Address kOffsetMask = (1ull << 42) - 1;

  // `letter`: X for JDK 21's ZGC without generations.
  ZHeap(int jdk, char letter, bool generational) : Heap(jdk, "UseZGC"), letter_(1, letter) {
    vm.flag("MaxHeapSize", std::uint64_t{1} << 30);
    if (jdk == 21) vm.flag("ZGenerational", generational);
    const std::string globals = letter_ + "GlobalsForVMStructs";
    constexpr Address kGlobals = 0x1600000;
    vm.variable(globals, "_instance_p", kGlobals);
    // Pointers to the collector's variables.
    if (jdk > 11) vm.field(globals, "_" + letter_ + "AddressOffsetMask", 0);
    vm.field(globals, "_" + letter_ + "AddressGoodMask", 8);
    if (generational) vm.field(globals, "_ZPointerLoadShift", 16);
    vm.words(kGlobals, {kGlobals + 64, kGlobals + 72, kGlobals + 80});
    vm.words(kGlobals + 64, {kOffsetMask, Address{1} << 44, 13});
    vm.field(letter_ + "CollectedHeap", "_heap", 16);
    vm.field(letter_ + "Heap", jdk == 11 ? "_pagetable" : "_page_table", 8);
    if (jdk == 11) vm.field("ZAddressRangeMapForPageTable", "_map", 8);
    else vm.field(letter_ + "GranuleMapForPageTable", "_map", 8);
    vm.field(letter_ + "Page", "_type", 0);
    vm.field(letter_ + "Page", "_virtual", 8);
    if (jdk > 11) vm.field(letter_ + "Page", "_top", 24);
    else vm.field("ZPage", "_forwarding", 48);
    if (jdk == 11) vm.field("ZForwardingTable", "_table", 0);
    if (jdk == 11) vm.field("ZForwardingTable", "_size", 8);
    vm.field(letter_ + "VirtualMemory", "_start", 0);
    vm.field(letter_ + "VirtualMemory", jdk < 25 ? "_end" : "_size", 8);
    has_end_ = jdk < 25;
    base = generational ? kOffsetMask + 1 : Address{1} << 44;
  }
  // Of JDK 11: the cycle in which a page was allocated, how many use it, and its table of moved objects.
  struct Of11 {
    std::uint64_t cycle = 1, users = 1;
    std::vector<std::uint64_t> moved;
  };
  // A page of kind 0 small, 1 medium, 2 large.
  void page(double start, double end, double top, unsigned char kind, const Of11& of_11 = {1, 1, {}}) {
    const Address page_at = kRegions + pages_ * 64, table_at = kRegions + 0x10000 + pages_ * 64;
    ++pages_;
    vm.words(page_at, {kind | of_11.cycle << 32, at(start), has_end_ ? at(end) : at(end) - at(start), at(top), 0,
                       of_11.users, table_at, of_11.moved.size()});
    if (!of_11.moved.empty()) vm.words(table_at, of_11.moved);
    const Address flags = of_11.moved.empty() ? 0 : 1;
    for (double unit = start; unit < end; unit += 2) table_[(at(unit) & kOffsetMask) / (2 * kMega)] = page_at | flags;
  }
  std::vector<std::string> regions() {
    constexpr Address kMap = 0x10000000;
    vm.words(kMap, std::vector<Address>(1 << 16));
    for (const auto& [index, entry] : table_) vm.word(kMap + index * 8, entry);
    vm.words(kHeap + 24, {1 << 16, kMap});  // ZGranuleMap: _size, _map
    return Heap::regions();
  }

 private:
  std::string letter_;
  bool has_end_ = true;
  std::size_t pages_ = 0;
  std::map<Address, Address> table_;
};

struct ZMode {
  int jdk;
  char letter;
  bool generational;
};
class ZHeaps : public ::testing::TestWithParam<ZMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, ZHeaps,
                         ::testing::Values(ZMode{11, 'Z', false}, ZMode{17, 'Z', false}, ZMode{21, 'X', false},
                                           ZMode{21, 'Z', true}, ZMode{25, 'Z', true}),
                         [](const auto& test) {
                           return "jdk" + std::to_string(test.param.jdk) +
                                  (test.param.generational ? "_generational" : "");
                         });

TEST_P(ZHeaps, AreThePagesOfTheTable) {
  ZHeap heap(GetParam().jdk, GetParam().letter, GetParam().generational);
  heap.page(0, 2, 1, 0);
  heap.page(4, 36, 10, 1);
  heap.page(40, 46, 45, 2);
  ASSERT_THAT(heap.regions(), ElementsAre("small 0-2 used 1", "medium 4-36 used 6", "large! 40-46 used 5"))
      << "a page of several granules counts once";
  EXPECT_EQ(heap.layout.collector, GetParam().generational ? "Z generational" : "Z");
  EXPECT_TRUE(heap.layout.regions[0].zeros_unused);
  EXPECT_EQ(heap.layout.regions[0].alignment, 8u);
  EXPECT_EQ(heap.layout.regions[1].alignment, 4096u) << "32 MiB over 2^13";
}

// A thread that has not run since the colour changed has the addresses of its buffer in the earlier one.
TEST_P(ZHeaps, HaveBuffersAtTheGoodAddresses) {
  ZHeap heap(GetParam().jdk, GetParam().letter, GetParam().generational);
  heap.page(0, 2, 1, 0);
  constexpr Address kThreads = 0x1100000, kThread = kThreads + 0x1000;
  heap.vm.variable("ThreadsSMRSupport", "_java_thread_list", kThreads);
  heap.vm.field("ThreadsList", "_length", 0);
  heap.vm.field("ThreadsList", "_threads", 8);
  heap.vm.words(kThreads, {1, kThreads + 32, 0, 0, kThread});
  heap.vm.field("Thread", "_tlab", 16);
  heap.vm.field("ThreadLocalAllocBuffer", "_start", 0);
  heap.vm.field("ThreadLocalAllocBuffer", "_top", 8);
  heap.vm.field("ThreadLocalAllocBuffer", "_end", 16);
  const Address colour = GetParam().generational ? heap.base : Address{1} << 43;
  heap.vm.words(kThread + 16, {colour + 0x8000, colour + 0x8100, colour + 0x9000, colour + 0x9000});
  ASSERT_THAT(heap.regions(), ElementsAre("small 0-2 used 1"));
  EXPECT_THAT(heap.layout.holes,
              ElementsAre(AddressRange{heap.base + 0x8100, heap.base + 0x9000 + 16, heap.base + 0x8000}));
}

TEST_P(ZHeaps, CountWhatIsUsedInOneWord) {
  ZHeap bare(GetParam().jdk, GetParam().letter, GetParam().generational);
  EXPECT_THAT(must(space_words(bare.vm.open())), IsEmpty()) << "the JVM does not export it";
  ZHeap heap(GetParam().jdk, GetParam().letter, GetParam().generational);
  const std::string letter(1, GetParam().letter);
  heap.vm.field(letter + "Heap", "_page_allocator", 104);
  heap.vm.field(letter + "PageAllocator", "_used", 40);
  const auto words = must(space_words(heap.vm.open()));
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].bottom, 0u);
  EXPECT_EQ(words[0].top, kHeap + 16 + 104 + 40);
}

TEST(ZHeapOf25, CountsWhatIsUsedByNode) {
  constexpr Address kAllocator = kHeap + 16 + 104, kPartition = 0x1900000;
  const auto words = [&](std::uint64_t nodes) {
    ZHeap heap(25, 'Z', true);
    heap.vm.field("ZHeap", "_page_allocator", 104);
    heap.vm.field("ZPageAllocator", "_partitions", 48);
    heap.vm.field("ZPerNUMAZPartition", "_addr", 0);
    heap.vm.field("ZPartition", "_used", 1712);
    heap.vm.variable("ZNUMA", "_count", nodes);
    heap.vm.word(kAllocator + 48, kPartition);
    return must(space_words(heap.vm.open()));
  };
  ASSERT_EQ(words(1).size(), 1u);
  EXPECT_EQ(words(1)[0].top, kPartition + 1712);
  EXPECT_THAT(words(2), IsEmpty()) << "where the other is, is not known";
}

// Of the table in a page: the object with this index was copied to the offset.
constexpr std::uint64_t moved(std::uint64_t index, Address to) { return index << 42 | to; }
constexpr std::uint64_t kNotMoved = ~0ull;

TEST(ZHeapOf11, DoesNotCountWhatWasCopiedOutOfAPage) {
  ZHeap heap(11, 'Z', false);
  heap.page(0, 2, 1, 0,
            {.cycle = 1, .users = 1, .moved = {moved(2, ZHeap::at(4)), kNotMoved, moved(0, ZHeap::at(0)), kNotMoved}});
  heap.page(4, 6, 5, 0, {.cycle = 2, .users = 1, .moved = {}});
  ASSERT_THAT(heap.regions(), ElementsAre("relocating 0-2 used 1", "small 4-6 used 1"));
  EXPECT_THAT(heap.layout.regions[0].copied, ElementsAre(heap.base + ZHeap::at(0) + 16))
      << "the first object stays in its place";
  EXPECT_THAT(heap.layout.missing, Not(Contains(HasSubstr("twice"))));
}

TEST(ZHeapOf11, LeavesOutAPageThatWasFreed) {
  ZHeap heap(11, 'Z', false);
  heap.page(0, 2, 1, 0, {.cycle = 1, .users = 0, .moved = {moved(2, ZHeap::at(4))}});
  heap.page(4, 6, 5, 0, {.cycle = 2, .users = 1, .moved = {}});
  EXPECT_THAT(heap.regions(), ElementsAre("small 4-6 used 1"));
}

TEST(ZHeapOf11, CountsTheNewObjectsOfAPageThatWasFreedAndTakenAgain) {
  ZHeap heap(11, 'Z', false);
  heap.page(0, 2, 1, 0, {.cycle = 2, .users = 1, .moved = {moved(2, ZHeap::at(4))}});
  heap.page(4, 6, 5, 0, {.cycle = 2, .users = 1, .moved = {}});
  ASSERT_THAT(heap.regions(), ElementsAre("small 0-2 used 1", "small 4-6 used 1"));
  EXPECT_THAT(heap.layout.regions[0].copied, IsEmpty());
}

}  // namespace
}  // namespace jtrace::coreinspect
