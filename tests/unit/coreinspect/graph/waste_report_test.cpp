// What of a made-up heap could be saved, and what just not.
#include "coreinspect/graph/waste_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "coreinspect/graph/holder_fields.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kString = 0x1300, kMap = 0x1400,
                        kList = 0x1500, kInteger = 0x1600, kHolder = 0x1700, kPair = 0x1800, kFirst = 0x10000;

class Heap : public HprofBuilder {
 public:
  Heap() {
    add_class(kObject, "java/lang/Object", 0, {});
    add_class(kApp, "App", kObject, {}, {.statics = {{"KEPT", kFirst}}});
    add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    add_class(kString, "java/lang/String", kObject, {"value"}, {.ints = {"coder"}});
    add_class(kMap, "java/util/HashMap", kObject, {"table"}, {.ints = {"size"}});
    add_class(kList, "java/util/ArrayList", kObject, {"elementData"}, {.ints = {"size"}});
    add_class(kInteger, "java/lang/Integer", kObject, {}, {.ints = {"value"}});
    add_class(kHolder, "Holder", kObject, {"it"});
    add_class(kPair, "Pair", kObject, {"one", "other"}, {.ints = {"number"}});
    add_root(kApp);
  }
  // Each thing is kept by a Holder.
  std::uint64_t place() {
    held_.push_back(kFirst + 0x1000 * (held_.size() + 1));
    add_instance(held_.back(), kHolder, {held_.back() + 0x100});
    return held_.back() + 0x100;
  }
  void string(std::string_view text, std::uint32_t coder = 0) {
    const std::uint64_t at = place();
    add_instance(at, kString, {at + 0x100}, {coder});
    add_text(at + 0x100, text);
  }
  void collection(std::uint64_t type, std::uint32_t size, std::size_t slots) {
    const std::uint64_t at = place();
    add_instance(at, type, {slots == 0 ? 0 : at + 0x100}, {size});
    if (slots > 0) add_array(at + 0x100, kArray, std::vector<std::uint64_t>(slots, 0));
  }
  std::vector<WasteFinding> waste(const RealSizes& sizes = {}) {
    add_array(kFirst, kArray, held_);
    const std::string text = dump();
    const auto graph =
        test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text), "dump")), HeapShape{}, 1, sizes));
    EXPECT_TRUE(graph->missing().empty()) << graph->missing().front();
    return find_waste(*graph);
  }

 private:
  std::vector<std::uint64_t> held_;
};

WasteFinding only(const std::vector<WasteFinding>& all, const std::string& kind) {
  WasteFinding found;
  for (const WasteFinding& each : all) {
    if (each.kind != kind) continue;
    EXPECT_TRUE(found.kind.empty()) << "twice";
    found = each;
  }
  return found;
}

TEST(Waste, EqualStringsCountButForOne) {
  Heap heap;
  for (int i = 0; i < 3; ++i) heap.string("Berlin");
  heap.string("Bergen");
  heap.string("Berlin", 1);  // other characters of the same bytes
  const auto found = only(heap.waste(), "duplicate strings");
  EXPECT_EQ(found.objects, 2u);
  EXPECT_EQ(found.bytes, 2u * (24 + 24));  // a header of 12, a reference, a number; 16 and 6
  EXPECT_EQ(found.holder, "Holder.it");
  EXPECT_EQ(found.held, found.bytes);
  ASSERT_EQ(found.examples.size(), 1u);
  EXPECT_EQ(found.examples.front().text, "Berlin");
  EXPECT_EQ(found.examples.front().objects, 3u);
}

// A class with @Contended, and 8 bytes of the VM.
TEST(Waste, PaddingIsThatOfTheRealSize) {
  Heap heap;
  for (std::uint64_t i = 0; i < 10; ++i) heap.add_instance(heap.place(), kPair, {0, 0}, {7});
  const RealSizes sizes{.of_class = {{kPair, {.bytes = 276, .injected = 8}}}, .of_object = {}};
  const WasteFinding found = only(heap.waste(sizes), "padding");
  EXPECT_EQ(found.of, "Pair");
  EXPECT_EQ(found.bytes, 10u * (280 - (12 + 4 + 4 + 4) - 8));
}

TEST(Waste, QueuesAndCopiedListsAreCollections) {
  constexpr std::uint64_t kQueue = 0x1900, kAtomic = 0x1a00, kCopied = 0x1b00;
  for (const std::uint32_t size : {0u, 1u, 2u}) {
    Heap heap;
    heap.add_class(kAtomic, "java/util/concurrent/atomic/AtomicInteger", kObject, {}, {.ints = {"value"}});
    heap.add_class(kQueue, "java/util/concurrent/LinkedBlockingQueue", kObject, {"count"});
    heap.add_class(kCopied, "java/util/concurrent/CopyOnWriteArrayList", kObject, {"array"});
    const std::uint64_t queue = heap.place(), copied = heap.place();
    heap.add_instance(queue, kQueue, {queue + 0x100});
    heap.add_instance(queue + 0x100, kAtomic, {}, {size});
    heap.add_instance(copied, kCopied, {copied + 0x100});
    heap.add_array(copied + 0x100, kArray, std::vector<std::uint64_t>(size, kApp));
    std::set<std::string> found;
    for (const WasteFinding& each : heap.waste())
      if (each.kind == (size == 0 ? "empty collections" : "single-entry collections")) found.insert(each.of);
    EXPECT_EQ(found.size(), size < 2 ? 2u : 0u) << size;
  }
}

TEST(Waste, AnArrayThatStringsShareCountsOnce) {
  Heap heap;
  heap.string("Berlin");
  std::uint64_t shared = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t at = heap.place();
    if (i == 0) heap.add_text(shared = at + 0x100, "Berlin");
    heap.add_instance(at, kString, {shared}, {0});
  }
  EXPECT_EQ(only(heap.waste(), "duplicate strings").bytes, 3u * 24 + 24);
}

TEST(Waste, ArraysAreEqualOrZeroOrEmpty) {
  Heap heap;
  for (int i = 0; i < 3; ++i) {
    heap.add_text(heap.place(), "not of a string");
    heap.add_bytes(heap.place(), kZeros);
    heap.add_bytes(heap.place(), 0);
  }
  heap.add_bytes(heap.place(), kZeros - 1);
  const auto all = heap.waste();
  EXPECT_EQ(only(all, "duplicate arrays").objects, 2u) << "short ones of zeros are no array of zeros";
  EXPECT_EQ(only(all, "arrays of zeros").objects, 3u);
  EXPECT_EQ(only(all, "arrays of zeros").bytes, 3u * (16 + kZeros));
  EXPECT_EQ(only(all, "empty arrays").bytes, 2u * 16);
}

TEST(Waste, FieldsThatAreNearlyAlwaysNull) {
  Heap heap;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t at = heap.place();
    heap.add_instance(at, kPair, {kFirst, i < 9 ? kFirst : 0}, {1});
  }
  const auto found = only(heap.waste(), "null fields");
  EXPECT_EQ(found.of, "Pair.other");
  EXPECT_EQ(found.objects, 91u);
  EXPECT_EQ(found.bytes, 91u * 4);
  EXPECT_EQ(found.holder, "Holder.it");
}

TEST(Waste, AFieldThatIsOftenSetIsNoNullField) {
  Heap heap;
  for (int i = 0; i < 100; ++i) heap.add_instance(heap.place(), kPair, {kFirst, i < 11 ? kFirst : 0}, {1});
  EXPECT_EQ(only(heap.waste(), "null fields").objects, 0u);
  Heap small;
  for (int i = 0; i < 99; ++i) small.add_instance(small.place(), kPair, {kFirst, 0}, {1});
  EXPECT_EQ(only(small.waste(), "null fields").objects, 0u) << "too few objects";
}

// The author of the class cannot leave out what it inherits.
TEST(Waste, WhatTheJdkDeclaresIsNoNullField) {
  Heap heap;
  heap.add_class(0x1900, "java/util/TimerTask", kObject, {"lock"});
  heap.add_class(0x1a00, "Task", 0x1900, {"own"});
  for (int i = 0; i < 100; ++i) heap.add_instance(heap.place(), 0x1a00, {0, 0});
  std::vector<std::string> fields;
  for (const WasteFinding& each : heap.waste())
    if (each.kind == "null fields") fields.push_back(each.of);
  EXPECT_THAT(fields, ::testing::ElementsAre("Task.own"));
}

TEST(Waste, PaddingIsWhatTheAlignmentAdds) {
  Heap heap;
  heap.add_text(heap.place(), "abc");  // 16 and 3 bytes
  std::uint64_t bytes = 0;
  for (const WasteFinding& each : heap.waste())
    if (each.kind == "padding" && each.of == "byte[]") bytes += each.bytes;
  EXPECT_EQ(bytes, 5u);
}

TEST(Waste, CollectionsAreEmptyHaveOneEntryOrTooMuchRoom) {
  Heap heap;
  heap.collection(kMap, 0, 0);
  heap.collection(kMap, 0, 16);
  heap.collection(kMap, 1, 16);
  heap.collection(kList, 2, 8);  // a quarter is full
  heap.collection(kList, 2, 9);  // less
  heap.collection(kList, 3, 3);
  const auto all = heap.waste();
  EXPECT_EQ(only(all, "empty collections").objects, 2u);
  EXPECT_EQ(only(all, "empty collections").bytes, 2u * 24 + 16 + 64);
  EXPECT_EQ(only(all, "single-entry collections").bytes, 24u + 16 + 64);
  EXPECT_EQ(only(all, "oversized collections").of, "java.util.ArrayList");
  EXPECT_EQ(only(all, "oversized collections").objects, 1u);
  EXPECT_EQ(only(all, "oversized collections").bytes, 7u * 4);
}

// More entries than the heap has objects, or than there is room for.
TEST(Waste, SizesThatCannotBeAreNotBelieved) {
  Heap heap;
  heap.collection(kMap, 0xffff'ffff, 16);
  heap.collection(kList, 1000, 2);
  for (const WasteFinding& each : heap.waste()) EXPECT_EQ(each.kind, "padding");
}

TEST(Waste, BoxesCostWhatIsNotTheNumber) {
  Heap heap;
  for (int i = 0; i < 5; ++i) heap.add_instance(heap.place(), kInteger, {}, {7});
  const auto found = only(heap.waste(), "boxed numbers");
  EXPECT_EQ(found.objects, 5u);
  EXPECT_EQ(found.bytes, 5u * (16 - 4));
}

TEST(Waste, GarbageCountsForNothing) {
  Heap heap;
  for (const std::uint64_t at : {0x90000u, 0x91000u}) heap.add_text(at, "nobody refers to it");
  EXPECT_TRUE(heap.waste().empty());
}

TEST(Waste, IsHeldByTheNearestFieldOfTheProgram) {
  EXPECT_TRUE(is_class_of_the_jdk("java.util.HashMap"));
  EXPECT_TRUE(is_class_of_the_jdk("java.lang.String[][]"));
  EXPECT_TRUE(is_class_of_the_jdk("int[][]"));
  EXPECT_FALSE(is_class_of_the_jdk("javazoo.Animal[]"));
  EXPECT_FALSE(is_class_of_the_jdk("App"));
}

}  // namespace
}  // namespace jtrace::coreinspect
