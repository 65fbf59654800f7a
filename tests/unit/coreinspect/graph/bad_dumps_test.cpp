// Heap dumps that are no such file, or damaged, or unusual: what is made of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "coreinspect/graph/heap_tree.h"
#include "tests/testlib/effort.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kObject = 0x1000, kPair = 0x1100;

std::unique_ptr<ObjectGraph> graph_of(const std::string& dump) {
  return test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}));
}
std::string refusal(const std::string& dump) {
  const auto file = HprofFile::of_view(bytes_of(dump), "dump");
  return file ? "" : file.error().message();
}

// A pair of two arrays; a root.
void add_pair(HprofBuilder& builder) {
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_class(kPair, "Pair", kObject, {"one", "other"});
  builder.add_instance(0x2000, kPair, {0x2100, 0x2200});
  builder.add_bytes(0x2100, 10);
  builder.add_bytes(0x2200, 20);
  builder.add_root(0x2000);
}
std::string pair_dump() {
  HprofBuilder builder;
  add_pair(builder);
  return builder.dump();
}

// A record before the end record of a dump.
std::string with_record(std::uint8_t tag, const std::string& body) {
  std::string record(1, static_cast<char>(tag));
  record += std::string(4, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) record += static_cast<char>(body.size() >> shift);
  std::string dump = pair_dump();
  return dump.insert(dump.size() - 9, record + body);
}

TEST(BadDumps, OfOtherKindsAreNamed) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("hello, this is a text"), HasSubstr("does not begin with"));
  EXPECT_THAT(refusal("\x7f"
                      "ELF\x02\x01\x01"),
              HasSubstr("an ELF file"));
  EXPECT_THAT(refusal("PK\x03\x04"), HasSubstr("a zip archive"));
  EXPECT_THAT(refusal(std::string("\0\x12portable heap dump", 20)), HasSubstr("OpenJ9"));
  EXPECT_THAT(refusal(std::string("JAVA PROFILE 1.0.3\0", 19)), HasSubstr("Android"));
  EXPECT_THAT(refusal(std::string("JAVA PROFILE 1.0.2\0\0\0\0\x02\0\0\0\0\0\0\0\0", 31)), HasSubstr("ids of 2 bytes"));
}

TEST(BadDumps, OfVersion1AreRead) {
  std::string dump = pair_dump();
  dump[17] = '1';
  EXPECT_EQ(graph_of(dump)->size(), 5u);
}

TEST(BadDumps, WithIdsOfFourBytesAreRead) {
  std::string body;
  const auto u4 = [&](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) body += static_cast<char>(value >> shift);
  };
  body += '\x23';  // an array of two bytes
  u4(0x2000);
  u4(1);
  u4(2);
  body += std::string("\x08\x01\x02", 3);
  body += '\x22';  // an array of one reference to it
  u4(0x3000);
  u4(1);
  u4(1);
  u4(0x1000);
  u4(0x2000);
  body += '\xff';
  u4(0x3000);
  const std::string segment = body;
  body = std::string("JAVA PROFILE 1.0.2\0\0\0\0\x04\0\0\0\0\0\0\0\0\x1c\0\0\0\0", 36);
  u4(static_cast<std::uint32_t>(segment.size()));
  const std::string dump = body + segment;
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->strength(graph->find(0x2000)), Strength::kStrong);
}

TEST(BadDumps, ThatAreCutBeforeTheirRootsGuess) {
  HprofBuilder builder;
  add_pair(builder);
  builder.end_segment();
  const std::string whole = builder.dump();
  // Without the root, which is the last sub-record, and the end record.
  const auto graph = graph_of(whole.substr(0, whole.size() - 9 - 9));
  EXPECT_EQ(graph->size(), 5u);
  EXPECT_THAT(graph->missing(), ::testing::Contains(HasSubstr("is cut")));
  EXPECT_EQ(graph->strength(graph->find(kPair)), Strength::kStrong) << "classes of the boot loader are roots";
}

TEST(BadDumps, WithoutAnEndMayBeCut) {
  const std::string dump = pair_dump();
  const std::string open = dump.substr(0, dump.size() - 9);
  for (const std::string& each : {open, open + std::string(4096, '\0'), open + pair_dump()})
    EXPECT_THAT(graph_of(each)->missing(), ::testing::Contains(HasSubstr("may be cut")));
}

TEST(BadDumps, MayBeFollowedByZerosOfAnySize) {
  for (const std::size_t count : {1u, 8u, 9u, 10u, 4096u}) {
    const std::string dump = pair_dump() + std::string(count, '\0');
    const auto graph = graph_of(dump);
    EXPECT_THAT(graph->missing(), IsEmpty()) << count;
    EXPECT_EQ(graph->size(), 5u);
  }
}

TEST(BadDumps, FollowedByAnotherEndThere) {
  const std::string dump = pair_dump() + pair_dump();
  const auto graph = graph_of(dump);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("another heap dump begins at byte")));
  EXPECT_EQ(graph->size(), 5u);
}

TEST(BadDumps, WhoseHeapIsOneRecordWithoutALengthGoToTheEnd) {
  std::string dump = pair_dump();
  dump.resize(dump.size() - 9);
  const std::size_t segment = dump.find('\x1c');
  ASSERT_NE(segment, dump.npos);
  dump[segment] = '\x0c';
  for (std::size_t i = segment + 5; i < segment + 9; ++i) dump[i] = '\0';
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->size(), 5u);
  EXPECT_THAT(graph->missing(), IsEmpty());
}

TEST(BadDumps, MayHaveEmptySegments) {
  const std::string dump = with_record(0x1c, "");
  EXPECT_THAT(graph_of(dump)->missing(), IsEmpty());
}

TEST(BadDumps, WithAnObjectOverTheEndOfItsSegmentLoseItAlone) {
  std::string body = "\x23";
  body += std::string("\0\0\0\0\0\0\x50\0\0\0\0\x01\0\0\0\x64\x08", 17);
  const std::string dump = with_record(0x1c, body + "only a few of 100 bytes");
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->size(), 5u);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("bytes of the heap dump could not be read")));
}

TEST(BadDumps, WithRecordsThatNobodyKnowsSkipThem) {
  const std::string dump = with_record(0x77, "whatever");
  EXPECT_THAT(graph_of(dump)->missing(), IsEmpty());
}

TEST(BadDumps, WithClassesThatAreNotThereSayIt) {
  HprofBuilder builder;
  add_pair(builder);
  builder.add_instance(0x3000, 0x7777, {0x2000});
  builder.add_root(0x3000);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->name(graph->find(0x3000)), "?");
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("other fields")));
}

TEST(BadDumps, WithAClassTwiceTakeTheFirst) {
  HprofBuilder builder;
  add_pair(builder);
  builder.add_class(kPair, "Pair", kObject, {});
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("twice")));
  EXPECT_EQ(graph->strength(graph->find(0x2200)), Strength::kStrong);
}

// Of each class an instance: what is planned for it must not grow with the length of the chain.
TEST(BadDumps, WithADeepChainOfSuperclassesTakeLinearTime) {
  constexpr std::uint64_t kCount = test::effort(100'000, 20'000);
  HprofBuilder builder;
  for (std::uint64_t i = 0; i < kCount; ++i)
    builder.add_class(0x100000 + 0x10 * i, "C", i + 1 < kCount ? 0x100000 + 0x10 * (i + 1) : 0, {"field"});
  for (std::uint64_t i = 0; i < kCount; ++i)
    builder.add_instance(0x10000000 + 0x10 * i, 0x100000 + 0x10 * i, {0x10000000});
  builder.add_root(0x10000000);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->size(), 2 * kCount);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr(std::to_string(kCount - 1) + " instances have other fields")));
  EXPECT_EQ(graph->edges(graph->find(0x10000000)), 2u) << "its class, and what it has room for";
}

TEST(BadDumps, WhereAClassIsAboveItselfCutTheCircle) {
  HprofBuilder builder;
  builder.add_class(0x100, "A", 0x200, {"a"});
  builder.add_class(0x200, "B", 0x100, {"b"});
  builder.add_class(0x300, "C", 0x300, {"c"});
  builder.add_instance(0x1000, 0x100, {0x1100, 0});
  builder.add_instance(0x1100, 0x300, {0});
  builder.add_root(0x1000);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_THAT(graph->missing(), IsEmpty());
  EXPECT_EQ(graph->strength(graph->find(0x1100)), Strength::kStrong);
}

TEST(BadDumps, WithCountsBeyondTheirSegmentsTakeNoMemoryForThem) {
  for (const int kind : {0x21, 0x22, 0x23}) {
    std::string body(1, static_cast<char>(kind));
    body += std::string("\0\0\0\0\0\0\x50\0\0\0\0\x01", 12);
    if (kind == 0x21) body += std::string("\0\0\0\0\0\0\x11\0", 8);
    body += "\xff\xff\xff\xff";
    body += kind == 0x23 ? std::string("\x0b") : kind == 0x22 ? std::string("\0\0\0\0\0\0\x10\0", 8) : std::string();
    const std::string dump = with_record(0x1c, body + std::string(100, '\x08'));
    const auto graph = graph_of(dump);
    EXPECT_EQ(graph->size(), 5u);
    EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("could not be read")));
  }
}

TEST(BadDumps, WithAnUnknownPartLoseTheRestOfItsSegmentAlone) {
  const std::string dump = with_record(0x1c, "\x77 and more");
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->size(), 5u);
  EXPECT_THAT(graph->missing(), ElementsAre("10 bytes of the heap dump could not be read"));
}

TEST(BadDumps, WithAnObjectTwiceTakeTheFirst) {
  HprofBuilder builder;
  add_pair(builder);
  builder.add_bytes(0x2000, 99);
  builder.add_instance(0x2100, kPair, {0, 0});
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->size(), 5u);
  EXPECT_EQ(graph->name(graph->find(0x2000)), "Pair");
  EXPECT_EQ(graph->name(graph->find(0x2100)), "byte[]");
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("2 objects are in the heap dump twice")));
}

TEST(BadDumps, WithoutRootsTakeEachObjectAsOne) {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {}, {.loader = 0x2000});
  builder.add_class(kPair, "Pair", kObject, {"one", "other"}, {.loader = 0x2000});
  builder.add_instance(0x2000, kPair, {0x2000, 0});
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->roots().size(), 3u);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("no roots")));
}

TEST(BadDumps, WithInstancesOfAnotherLengthDecodeWhatTheyHave) {
  HprofBuilder builder;
  add_pair(builder);
  builder.add_instance(0x3000, kPair, {0x2100});
  builder.add_instance(0x3100, kPair, {0x2100, 0x2200, 0x2000, 0x2000});
  builder.add_root(0x3000);
  builder.add_root(0x3100);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_THAT(graph->missing(), ElementsAre(HasSubstr("2 instances have other fields")));
  EXPECT_EQ(HeapTree(*graph).retained(graph->find(0x3000)), graph->bytes(graph->find(0x3000)));
}

TEST(BadDumps, WithoutObjectsAreRefused) {
  const std::string head("JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\1", 31);
  for (const std::string& each : {head, head + std::string(100, '\0'), head + std::string("\x1c\0\0\0\0\0\0\0\0", 9)}) {
    const auto graph = ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(each), "dump")), HeapShape{});
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.error().category, ErrorCategory::kMalformed);
    EXPECT_THAT(graph.error().message(), HasSubstr("no objects"));
  }
}

// A record of more than 4 GiB: its length says less. Only what is read of the memory exists.
TEST(BadDumps, WhoseHeapIsLongerThanItsLengthCanSayAreReadWhole) {
  constexpr std::uint64_t kElements = 0x2000'0000, kSize = kElements * 8 + (1u << 20);
  void* const mapped =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) GTEST_SKIP() << "no address space of 4 GiB";
  HprofBuffer array, last;
  array.sub(HprofSub::kPrimitiveArrayDump);
  array.id(0x5000);
  array.u4(1);
  array.u4(kElements);
  array.u1(11);
  last.sub(HprofSub::kRootUnknown);
  last.id(0x5000);
  std::string begin = pair_dump();
  begin.resize(begin.size() - 9);
  const std::size_t segment = begin.find('\x1c');
  begin[segment] = '\x0c';
  const std::uint64_t length = begin.size() - segment - 9 + array.text().size() + kElements * 8 + last.text().size();
  for (std::size_t i = 0; i < 4; ++i) begin[segment + 5 + i] = static_cast<char>(length >> (24 - 8 * i));
  begin += array.text();
  char* const bytes = static_cast<char*>(mapped);
  std::memcpy(bytes, begin.data(), begin.size());
  std::memcpy(bytes + begin.size() + kElements * 8, last.text().data(), last.text().size());
  {
    const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(bytes), segment + 9 + length);
    const auto graph = test::must(ObjectGraph::build(test::must(HprofFile::of_view(all, "dump")), HeapShape{}));
    EXPECT_EQ(graph->size(), 6u);
    EXPECT_EQ(graph->bytes(graph->find(0x5000)), 16 + kElements * 8);
    EXPECT_EQ(graph->strength(graph->find(0x5000)), Strength::kStrong);
  }
  ::munmap(mapped, kSize);
}

TEST(BadDumps, WithNamesOfAnySizeAndTextShowThem) {
  HprofBuilder builder;
  builder.add_class(kObject, "", 0, {});
  builder.add_class(kPair, std::string(65'535, 'n'), kObject, {});
  builder.add_class(0x1200, "a\x1b[31m<b>\xff", kObject, {});
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->name(graph->find(kObject)), "class ");
  EXPECT_EQ(graph->name(graph->find(kPair)).size(), 6u + 65'535);
  EXPECT_EQ(graph->name(graph->find(0x1200)), "class a\x1b[31m<b>\xef\xbf\xbd") << "views print it escaped";
}

TEST(BadDumps, WithReferencesToNothingCountThem) {
  HprofBuilder builder;
  add_pair(builder);
  builder.add_instance(0x3000, kPair, {0x123450, ~0ull});
  builder.add_root(0x3000);
  builder.add_root(0x123450);
  const std::string dump = builder.dump();
  EXPECT_THAT(graph_of(dump)->missing(), ElementsAre(HasSubstr("1 root leads"), HasSubstr("2 references lead")));
}

// What HotSpot leaves out of its dumps: mirrors of the archive's classes that are not loaded. Its table is a root.
TEST(BadDumps, AreNoneIfOnlyTheArchiveRefersToNothing) {
  for (const bool is_root : {true, false}) {
    HprofBuilder builder;
    add_pair(builder);
    builder.add_class(0x2f00, "[Ljava/lang/Object;", kObject, {});
    builder.add_class(0x2e00, "App", kObject, {}, {.statics = {{"KEPT", 0x3000}}});
    builder.add_array(0x3000, 0x2f00, {0x123450, 0x2f00, 0x123460});
    builder.add_root(is_root ? 0x3000 : 0x2e00);
    const std::string dump = builder.dump();
    const auto missing = graph_of(dump)->missing();
    EXPECT_EQ(missing.size(), is_root ? 0u : 1u);
    // Of a dump that is cut nobody knows what it refers to.
    EXPECT_THAT(graph_of(dump.substr(0, dump.size() - 9))->missing(), ::testing::Contains(HasSubstr("2 references")));
  }
}

TEST(BadDumps, WithARootOfAnUnknownThreadKeepIt) {
  HprofBuilder builder;
  add_pair(builder);
  builder.add_bytes(0x3000, 4);
  builder.segment().sub(HprofSub::kRootJavaFrame);
  builder.segment().id(0x3000);
  builder.segment().u4(77);
  builder.segment().u4(0xffff'ffff);
  const std::string dump = builder.dump();
  const auto graph = graph_of(dump);
  EXPECT_EQ(graph->strength(graph->find(0x3000)), Strength::kStrong);
  EXPECT_EQ(graph->root_name(graph->find(0x3000)), "a frame's local");
}

// Their index may not take memory for the room between them.
TEST(BadDumps, WithIdsOfAnyKindAreRead) {
  for (const std::vector<std::uint64_t>& ids : std::vector<std::vector<std::uint64_t>>{
           {1, 2, 3}, {1ull << 30, 5ull << 30, ~0ull}, {8, 1ull << 62, (1ull << 63) + 1}}) {
    HprofBuilder builder;
    builder.add_class(kObject, "java/lang/Object", 0, {});
    builder.add_class(kPair, "Pair", kObject, {"one", "other"});
    builder.add_instance(ids[0], kPair, {ids[1], ids[2]});
    builder.add_bytes(ids[1], 1);
    builder.add_bytes(ids[2], 1);
    builder.add_root(ids[0]);
    const std::string dump = builder.dump();
    const auto graph = graph_of(dump);
    EXPECT_THAT(graph->missing(), IsEmpty());
    const HeapTree tree(*graph);
    EXPECT_EQ(tree.retained(graph->find(ids[0])), 24u + 24 + 24);
  }
}

}  // namespace
}  // namespace jtrace::coreinspect
