// What of a made-up heap is a suspect, and what just not yet.
#include "coreinspect/graph/leak_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kItem = 0x1300, kNode = 0x1400;
constexpr std::uint64_t kFirst = 0x10000, kStep = 0x1000;  // of what a test adds
constexpr LeakLimits kLimits{.share = 0.1, .bytes = 1000, .entries = 10, .loaders = 3, .direct = 100};

// A class with one static field, which holds what the test builds.
class Heap : public HprofBuilder {
 public:
  explicit Heap(std::uint64_t held, std::uint64_t other = 0) {
    add_class(kObject, "java/lang/Object", 0, {});
    add_class(kApp, "App", kObject, {}, {.statics = {{"KEPT", held}, {"OTHER", other}}});
    add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    add_class(kItem, "Item", kObject, {"load"});
    add_class(kNode, "Node", kObject, {"next", "load"});
    add_root(kApp);
    add_root(kObject);
  }
  std::uint64_t item(std::uint32_t bytes) {
    const std::uint64_t id = next_ += kStep;
    add_instance(id, kItem, {id + 0x100});
    add_bytes(id + 0x100, bytes);
    return id;
  }
  std::uint64_t next() { return next_ += kStep; }

 private:
  std::uint64_t next_ = kFirst;
};

LeakReport report_of(const std::string& dump, const LeakLimits& limits = kLimits) {
  const auto graph =
      test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}));
  EXPECT_TRUE(graph->missing().empty()) << graph->missing().front();
  return find_leaks(HeapTree(*graph), limits);
}

std::vector<std::string> kinds(const LeakReport& report) {
  std::vector<std::string> found;
  for (const LeakSuspect& each : report.suspects) found.push_back(each.kind);
  return found;
}

// So many items in an array that the static field holds.
std::string list_of(std::size_t count, std::uint32_t bytes) {
  Heap heap(kFirst);
  std::vector<std::uint64_t> items;
  for (std::size_t i = 0; i < count; ++i) items.push_back(heap.item(bytes));
  heap.add_array(kFirst, kArray, items);
  return heap.dump();
}

TEST(Leaks, AnArrayOfManyIsAnAccumulation) {
  const auto report = report_of(list_of(20, 100));
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation"));
  const LeakSuspect& suspect = report.suspects.front();
  EXPECT_EQ(suspect.holder, "static App.KEPT");
  EXPECT_EQ(suspect.of, "java.lang.Object[]");
  EXPECT_EQ(suspect.entries, 20u);
  EXPECT_EQ(suspect.retained, 16u + 20 * 4 + 20 * (16 + 120));
  EXPECT_THAT(suspect.sentence, StartsWith("one java.lang.Object[] of 20 elements, held by static App.KEPT, keeps 9"));
  EXPECT_THAT(suspect.evidence, Contains("20 Item among them keep 2720 bytes"));
}

// A put() that is running has the table in a local variable.
TEST(Leaks, AStaticFieldIsNamedBeforeALocalVariable) {
  for (const bool has_static : {true, false}) {
    Heap heap(has_static ? kFirst : 0);
    heap.add_class(0x1500, "java/lang/Thread", kObject, {"name"});
    heap.add_class(0x1600, "java/util/ArrayList", kObject, {"elementData"}, {.ints = {"size"}});
    std::vector<std::uint64_t> items;
    for (std::size_t i = 0; i < 20; ++i) items.push_back(heap.item(100));
    heap.add_instance(kFirst, 0x1600, {kFirst + 0x100}, {20});
    heap.add_array(kFirst + 0x100, kArray, items);
    heap.add_instance(kFirst + 0x200, 0x1500, {0});
    heap.add_thread(kFirst + 0x200, 1);
    heap.add_local(kFirst + 0x100, 1);
    const auto report = report_of(heap.dump());
    ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation"));
    EXPECT_THAT(report.suspects.front().sentence,
                HasSubstr(has_static ? "one java.util.ArrayList with 20 entries, held by static App.KEPT, keeps "
                                     : "held by a local variable of thread"));
    EXPECT_GT(report.suspects.front().retained, 20u * 100u);
  }
}

// A call that is running has the lock of the collection.
TEST(Leaks, AStaticFieldIsNamedBeforeALockThatIsHeld) {
  for (const bool has_static : {true, false}) {
    Heap heap(has_static ? kFirst : 0);
    heap.add_class(0x1600, "java/util/ArrayList", kObject, {"elementData"}, {.ints = {"size"}});
    std::vector<std::uint64_t> items;
    for (std::size_t i = 0; i < 20; ++i) items.push_back(heap.item(100));
    heap.add_instance(kFirst, 0x1600, {kFirst + 0x100}, {20});
    heap.add_array(kFirst + 0x100, kArray, items);
    heap.add_locked(kFirst);
    const auto report = report_of(heap.dump());
    ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation"));
    EXPECT_THAT(report.suspects.front().sentence,
                HasSubstr(has_static ? "held by static App.KEPT, keeps " : "held by a root (locked monitor), keeps "));
  }
}

TEST(Leaks, WhatKeepsOneByteLessThanMuchIsNone) {
  const std::string dump = list_of(20, 100);
  const std::uint64_t retained = 16u + 20 * 4 + 20 * (16 + 120);
  EXPECT_THAT(kinds(report_of(dump, {.share = 0.1, .bytes = retained})), Contains("accumulation"));
  const auto report = report_of(dump, {.share = 0.1, .bytes = retained + 1});
  EXPECT_TRUE(report.suspects.empty());
  EXPECT_FALSE(report.looked_at.empty());
}

// A list that is an object of its own for each entry: the first one is named, not the one where little is left.
std::string chain_of(std::size_t count) {
  Heap heap(kFirst + kStep);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::uint64_t id = heap.next();
    heap.add_instance(id, kNode, {i == count ? 0 : id + kStep, id + 0x100});
    heap.add_bytes(id + 0x100, 100);
  }
  return heap.dump();
}

TEST(Leaks, AChainIsOneStructure) {
  const auto report = report_of(chain_of(kLimits.entries));
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation"));
  EXPECT_THAT(report.suspects.front().sentence, StartsWith("a structure of 10 Node, held by static App.KEPT"));
  EXPECT_TRUE(report_of(chain_of(kLimits.entries - 1)).suspects.empty());
}

// A table whose buckets have two nodes each.
std::string table_of(std::size_t buckets) {
  constexpr std::uint64_t kMapNode = 0x1500;
  Heap heap(kFirst);
  heap.add_class(kMapNode, "java/util/HashMap$Node", kObject, {"next", "value"});
  std::vector<std::uint64_t> heads;
  for (std::size_t i = 0; i < buckets; ++i) {
    const std::uint64_t head = heap.next(), second = heap.next();
    heap.add_instance(head, kMapNode, {second, heap.item(100)});
    heap.add_instance(second, kMapNode, {0, heap.item(100)});
    heads.push_back(head);
  }
  heap.add_array(kFirst, kArray, heads);
  return heap.dump();
}

TEST(Leaks, NodesOfOneBucketCountOneByOne) {
  const auto report = report_of(table_of(10));
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation"));
  EXPECT_THAT(report.suspects.front().evidence, Contains(StartsWith("20 Item among them keep ")));
}

// An object with some large fields is no accumulation; what one of them keeps may be.
std::string fields_of(std::size_t count, std::uint32_t bytes) {
  Heap heap(kFirst);
  std::vector<std::string> names;
  std::vector<std::uint64_t> items;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back("f" + std::to_string(i));
    items.push_back(heap.item(bytes));
  }
  heap.add_class(0x1500, "Holder", kObject, names);
  heap.add_instance(kFirst, 0x1500, items);
  return heap.dump();
}

TEST(Leaks, AnObjectWithSomeFieldsIsNone) {
  EXPECT_TRUE(report_of(fields_of(kLimits.entries - 1, 100)).suspects.empty());
  EXPECT_THAT(kinds(report_of(fields_of(kLimits.entries, 100))), Contains("accumulation"));
  EXPECT_THAT(report_of(fields_of(3, 3000)).suspects.size(), 3u) << "each of them keeps a large array";
}

TEST(Leaks, AnEmptyHeapHasNone) {
  Heap heap(0);
  EXPECT_TRUE(report_of(heap.dump()).suspects.empty());
}

// Items that two roots hold: no object retains them.
TEST(Leaks, ManyAlikeThatNobodyKeepsAloneAreOneSuspect) {
  for (const std::size_t count : {kLimits.entries, kLimits.entries - 1}) {
    Heap heap(kFirst);
    std::vector<std::uint64_t> items;
    for (std::size_t i = 0; i < count; ++i) items.push_back(heap.item(100));
    heap.add_array(kFirst, kArray, items);
    heap.add_array(kFirst + 0x800, kArray, items);
    heap.add_root(kFirst + 0x800);
    const auto report = report_of(heap.dump());
    ASSERT_EQ(kinds(report).size(), count == kLimits.entries ? 1u : 0u);
    EXPECT_TRUE(report.suspects.empty() || report.suspects.front().kind == "many alike");
  }
}

// All of them are kept by the class, and none of its fields keeps any alone.
TEST(Leaks, ManyAlikeInTwoFieldsOfAClassAreNotThoseOfTheClass) {
  Heap heap(kFirst, kFirst + 0x800);
  std::vector<std::uint64_t> items;
  for (std::size_t i = 0; i < 20; ++i) items.push_back(heap.item(100));
  heap.add_array(kFirst, kArray, items);
  heap.add_array(kFirst + 0x800, kArray, items);
  const auto report = report_of(heap.dump());
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("many alike"));
  const LeakSuspect& suspect = report.suspects.front();
  EXPECT_EQ(suspect.entries, 20u);
  EXPECT_EQ(suspect.retained, 20u * (16 + 120));
  EXPECT_EQ(suspect.holder, "static App.KEPT and static App.OTHER");
  EXPECT_THAT(suspect.sentence, StartsWith("20 Item, held by static App.KEPT and static App.OTHER, keep "));
  EXPECT_THAT(suspect.sentence, HasSubstr("and no single field keeps them alone"));
  EXPECT_THAT(suspect.evidence, ::testing::IsSupersetOf({"20 of them are held by static App.KEPT",
                                                         "20 of them are held by static App.OTHER"}));
}

TEST(Leaks, ManyAlikeInTwoFieldsOfAnObjectNameTheFields) {
  Heap heap(kFirst);
  std::vector<std::uint64_t> items;
  for (std::size_t i = 0; i < 20; ++i) items.push_back(heap.item(100));
  heap.add_class(0x1500, "Registry", kObject, {"byId", "byName"});
  heap.add_instance(kFirst, 0x1500, {kFirst + 0x400, kFirst + 0x800});
  heap.add_array(kFirst + 0x400, kArray, items);
  heap.add_array(kFirst + 0x800, kArray, items);
  const auto report = report_of(heap.dump());
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("many alike"));
  EXPECT_EQ(report.suspects.front().holder, "Registry.byId and Registry.byName");
}

// Each is queued, and the program has it in a field too.
TEST(Leaks, ReferencesInAQueueThatAFieldHoldsTooAreOneSuspect) {
  Heap heap(kFirst, kFirst + 0x800);
  heap.add_class(0x1500, "java/lang/ref/ReferenceQueue", kObject, {"head"});
  heap.add_class(0x1600, "java/lang/ref/Reference", kObject, {"referent", "next"});
  heap.add_class(0x1700, "Tracked", 0x1600, {"load"});
  heap.add_instance(kFirst, 0x1500, {kFirst + kStep});
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::uint64_t id = heap.next();
    heap.add_instance(id, 0x1700, {id + 0x100, 0, i + 1 < 20 ? id + kStep : id});
    heap.add_bytes(id + 0x100, 80);
    all.push_back(id);
  }
  heap.add_array(kFirst + 0x800, kArray, all);
  const auto report = report_of(heap.dump());
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("reference queue"));
  EXPECT_THAT(report.suspects.front().evidence, Contains("20 of Tracked are held by static App.OTHER too"));
}

// A map with one entry accumulates nothing.
TEST(Leaks, ALargeArrayIsNamedAndNotTheMapThatHasIt) {
  constexpr std::uint64_t kMap = 0x1500, kMapNode = 0x1600;
  Heap heap(kFirst);
  heap.add_class(kMap, "java/util/HashMap", kObject, {"table"}, {.ints = {"size"}});
  heap.add_class(kMapNode, "java/util/HashMap$Node", kObject, {"next", "value"});
  heap.add_instance(kFirst, kMap, {kFirst + 0x100}, {1});
  heap.add_array(kFirst + 0x100, kArray, {0, kFirst + 0x200});
  heap.add_instance(kFirst + 0x200, kMapNode, {0, kFirst + 0x300});
  heap.add_bytes(kFirst + 0x300, 3000);
  const auto report = report_of(heap.dump());
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation"));
  const LeakSuspect& suspect = report.suspects.front();
  EXPECT_EQ(suspect.of, "byte[]");
  EXPECT_EQ(suspect.retained, 16u + 3000);
  EXPECT_THAT(suspect.sentence, StartsWith("one byte[] of 3000 elements, held by static App.KEPT, keeps "));
}

// One array does not grow; what has many objects may, even if it keeps less. A builder has a new array when it grows.
TEST(Leaks, AnArrayOfNumbersComesAfterWhatHasManyObjects) {
  constexpr std::uint64_t kBuilder = 0x1500;
  for (const bool is_builder : {false, true}) {
    Heap heap(kFirst, is_builder ? kFirst + 0x200 : kFirst + 0x300);
    heap.add_class(kBuilder, "java/lang/AbstractStringBuilder", kObject, {"value"});
    std::vector<std::uint64_t> items;
    for (std::size_t i = 0; i < 20; ++i) items.push_back(heap.item(100));
    heap.add_array(kFirst, kArray, items);
    heap.add_instance(kFirst + 0x200, kBuilder, {kFirst + 0x300});
    heap.add_bytes(kFirst + 0x300, 5000);
    const auto report = report_of(heap.dump());
    ASSERT_EQ(report.suspects.size(), 2u);
    EXPECT_EQ(report.suspects.front().of, is_builder ? "byte[]" : "java.lang.Object[]");
    EXPECT_EQ(report.suspects.back().of, is_builder ? "java.lang.Object[]" : "byte[]");
  }
}

// The program's own map, which keeps more than the list beside it.
TEST(Leaks, ACacheThatMayHaveABoundComesLast) {
  constexpr std::uint64_t kMap = 0x1500, kLinked = 0x1600, kCache = 0x1700, kMapNode = 0x1800, kTable = 0x1900;
  Heap heap(kFirst, kFirst + 0x800);
  heap.add_class(kMap, "java/util/HashMap", kObject, {"table"}, {.ints = {"size"}});
  heap.add_class(kLinked, "java/util/LinkedHashMap", kMap, {});
  heap.add_class(kCache, "app/Profiles$1", kLinked, {});
  heap.add_class(kMapNode, "java/util/HashMap$Node", kObject, {"next", "value"});
  heap.add_class(kTable, "[Ljava/util/HashMap$Node;", kObject, {});
  heap.add_instance(kFirst, kCache, {kFirst + 0x100}, {20});
  std::vector<std::uint64_t> nodes, items;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t value = heap.item(400), node = heap.next();
    heap.add_instance(node, kMapNode, {0, value});
    nodes.push_back(node);
  }
  for (int i = 0; i < 20; ++i) items.push_back(heap.item(200));
  heap.add_array(kFirst + 0x100, kTable, nodes);
  heap.add_array(kFirst + 0x800, kArray, items);
  const auto report = report_of(heap.dump());
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("accumulation", "accumulation"));
  EXPECT_FALSE(report.suspects[0].may_be_bounded);
  const LeakSuspect& cache = report.suspects[1];
  EXPECT_TRUE(cache.may_be_bounded);
  EXPECT_GT(cache.retained, report.suspects[0].retained);
  EXPECT_THAT(cache.sentence, StartsWith("one app.Profiles$1 with 20 entries, held by static App.KEPT, keeps "));
  EXPECT_THAT(cache.evidence, Contains(HasSubstr("it may not grow")));
}

// Loaders of which an array has an object, the class, or the loader itself; the class has a static field with bytes.
TEST(Leaks, LoadersKeepTheirClassesAndObjectsWhateverHoldsThem) {
  const std::vector<std::pair<std::uint64_t, std::string>> cases = {
      {0x200, "3 are held by static App.KEPT through an object of Plugin"},
      {0x100, "3 are held by static App.KEPT through class Plugin"},
      {0, "3 are held by static App.KEPT"}};
  for (const auto& [held, told] : cases) {
    Heap heap(kFirst);
    heap.add_class(0x1500, "java/lang/ClassLoader", kObject, {"classes"});
    heap.add_class(0x1600, "PluginLoader", 0x1500, {});
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint64_t loader = heap.next();
      all.push_back(loader + held);
      heap.add_instance(loader, 0x1600, {loader + 0x400});
      heap.add_array(loader + 0x400, kArray, {loader + 0x100});
      heap.add_class(loader + 0x100, "Plugin", kObject, {},
                     {.loader = loader, .statics = {{"CACHE", loader + 0x300}, {"ONLY", loader + 0x200}}});
      heap.add_instance(loader + 0x200, loader + 0x100, {});
      heap.add_bytes(loader + 0x300, 400);
    }
    heap.add_array(kFirst, kArray, all);
    const auto report = report_of(heap.dump());
    const auto suspect = std::find_if(report.suspects.begin(), report.suspects.end(),
                                      [](const LeakSuspect& each) { return each.kind == "class loaders"; });
    ASSERT_NE(suspect, report.suspects.end());
    EXPECT_GE(suspect->retained, 3u * 416) << told;
    EXPECT_LE(suspect->retained, 3u * 700) << told;
    EXPECT_EQ(suspect->holder, "static App.KEPT");
    EXPECT_THAT(suspect->evidence, Contains(told));
  }
}

// Loaders in an array; `name` gives the class of each.
LeakReport loaders(std::size_t count, const std::function<std::string(std::size_t)>& name) {
  Heap heap(kFirst);
  heap.add_class(0x1500, "java/lang/ClassLoader", kObject, {});
  heap.add_class(0x1600, "PluginLoader", 0x1500, {});
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(heap.next());
    heap.add_instance(all.back(), 0x1600, {});
    heap.add_class(all.back() + 0x100, name(i), kObject, {}, {.loader = all.back()});
  }
  heap.add_array(kFirst, kArray, all);
  return report_of(heap.dump());
}

TEST(Leaks, LoadersWithTheSameClassesAreOne) {
  const auto same = [](std::size_t) { return std::string("Plugin"); };
  const auto report = loaders(3, same);
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("class loaders"));
  EXPECT_EQ(report.suspects.front().entries, 3u);
  EXPECT_EQ(report.suspects.front().holder, "static App.KEPT");
  EXPECT_TRUE(loaders(2, same).suspects.empty());
  EXPECT_TRUE(loaders(9, [](std::size_t i) { return "Plugin" + std::to_string(i); }).suspects.empty());
}

// Threads that each keep little, and together much.
LeakReport thread_locals(std::size_t threads, bool removed) {
  Heap heap(kFirst);
  heap.add_class(0x1500, "java/lang/Thread", kObject, {"name", "threadLocals"});
  heap.add_class(0x1600, "java/lang/ThreadLocal$ThreadLocalMap", kObject, {"table"});
  heap.add_class(0x1700, "java/lang/ref/Reference", kObject, {"referent"});
  heap.add_class(0x1800, "java/lang/ref/WeakReference", 0x1700, {});
  heap.add_class(0x1900, "java/lang/ThreadLocal$ThreadLocalMap$Entry", 0x1800, {"value"});
  heap.add_instance(kFirst, kObject, {});
  for (std::size_t i = 0; i < threads; ++i) {
    const std::uint64_t thread = heap.next(), value = heap.item(100);
    heap.add_instance(thread, 0x1500, {0, thread + 0x100});
    heap.add_instance(thread + 0x100, 0x1600, {thread + 0x200});
    heap.add_array(thread + 0x200, kArray, {0, thread + 0x300});
    heap.add_instance(thread + 0x300, 0x1900, {value, removed ? 0 : kFirst});
    heap.add_root(thread);
  }
  return report_of(heap.dump());
}

TEST(Leaks, ThreadLocalsOfAllThreadsAreCountedTogether) {
  const auto report = thread_locals(8, false);
  ASSERT_THAT(kinds(report), ::testing::ElementsAre("thread-locals"));
  EXPECT_EQ(report.suspects.front().retained, 8u * (16 + 120));
  EXPECT_EQ(report.suspects.front().holder, "static App.KEPT");
  EXPECT_TRUE(thread_locals(7, false).suspects.empty());
  EXPECT_THAT(thread_locals(8, true).suspects.front().evidence,
              Contains(HasSubstr("8 values of a ThreadLocal that is gone")));
}

// The last reference of a queue is its own next.
TEST(Leaks, AQueueThatNobodyEmptiesIsOne) {
  for (const std::size_t count : {7u, 8u}) {
    Heap heap(kFirst);
    heap.add_class(0x1500, "java/lang/ref/ReferenceQueue", kObject, {"head"});
    heap.add_class(0x1600, "java/lang/ref/Reference", kObject, {"referent", "next"});
    heap.add_class(0x1700, "Tracked", 0x1600, {"next", "load"});  // a next that is not the queue's
    heap.add_instance(kFirst, 0x1500, {kFirst + kStep});
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t id = heap.next();
      heap.add_instance(id, 0x1700, {0, id + 0x100, 0, i + 1 < count ? id + kStep : id});
      heap.add_bytes(id + 0x100, 80);
    }
    const auto report = report_of(heap.dump());
    ASSERT_EQ(kinds(report), count == 8 ? std::vector<std::string>{"reference queue"} : std::vector<std::string>());
    EXPECT_TRUE(report.suspects.empty() || report.suspects.front().entries == count);
  }
}

TEST(Leaks, DirectBuffersCountOutsideTheHeap) {
  for (const std::uint32_t bytes : {1'000'000u, 10u}) {
    Heap heap(kFirst);
    heap.add_class(0x1600, "java/nio/DirectByteBuffer", kObject, {"att", "cleaner"}, {.ints = {"capacity"}});
    heap.add_instance(kFirst, 0x1600, {0, kFirst + 0x100}, {bytes});
    heap.add_instance(kFirst + 0x100, kObject, {});
    heap.add_instance(kFirst + 0x200, 0x1600, {kFirst, 0}, {bytes});  // a slice of it
    heap.add_root(kFirst + 0x200);
    const auto report = report_of(heap.dump());
    ASSERT_EQ(kinds(report), bytes == 10 ? std::vector<std::string>() : std::vector<std::string>{"direct buffers"});
    if (report.suspects.empty()) continue;
    EXPECT_EQ(report.suspects.front().retained, bytes);
    EXPECT_THAT(report.suspects.front().sentence, ::testing::StartsWith("1 direct buffer keeps 1000000 bytes"));
  }
}

}  // namespace
}  // namespace jtrace::coreinspect
