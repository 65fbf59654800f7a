// Parts of a JVM's memory: ranges with a part, mappings by name, malloc's headers.
#include "coreinspect/tools/memory_parts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "coreinspect/tools/malloc_heaps.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

constexpr Address kPage = 4096;

struct Piece {
  Address start, end;
  MemoryPart part;
  bool operator==(const Piece&) const = default;
};
std::vector<Piece> pieces(const PartMap& map, Address start, Address end) {
  std::vector<Piece> all;
  map.visit(start, end, MemoryPart::kUnknown, [&](Address from, Address to, MemoryPart part) {
    all.push_back({from, to, part});
  });
  return all;
}

TEST(PartMap, TheFirstPartOfARangeStays) {
  PartMap map;
  map.add(0x2000, 0x4000, MemoryPart::kCodeCache);
  map.add(0x1000, 0x6000, MemoryPart::kMetaspace);
  map.add(0x5000, 0x7000, MemoryPart::kBlocks);
  const std::vector<Piece> expected = {
      {0x0, 0x1000, MemoryPart::kUnknown},      {0x1000, 0x2000, MemoryPart::kMetaspace},
      {0x2000, 0x4000, MemoryPart::kCodeCache}, {0x4000, 0x6000, MemoryPart::kMetaspace},
      {0x6000, 0x7000, MemoryPart::kBlocks},    {0x7000, 0x8000, MemoryPart::kUnknown}};
  EXPECT_EQ(pieces(map, 0, 0x8000), expected);
  EXPECT_TRUE(map.has(0x1000));
  EXPECT_TRUE(map.has(0x6fff));
  EXPECT_FALSE(map.has(0x7000));
  EXPECT_FALSE(map.has(0xfff));
}

TEST(PartMap, RangesAreAlignedOutwardsToPages) {
  PartMap map;
  map.add(0x1234, 0x2001, MemoryPart::kCardTable);
  EXPECT_EQ(pieces(map, 0x1000, 0x3000), (std::vector<Piece>{{0x1000, 0x3000, MemoryPart::kCardTable}}));
}

TEST(PartMap, APieceIsCutAtTheEndsThatAreAsked) {
  PartMap map;
  map.add(0x1000, 0x9000, MemoryPart::kArenas);
  EXPECT_EQ(pieces(map, 0x2000, 0x3000), (std::vector<Piece>{{0x2000, 0x3000, MemoryPart::kArenas}}));
  EXPECT_TRUE(pieces(map, 0x3000, 0x3000).empty());
}

TEST(PartMap, NeighboursOfOnePartAreOneRangeAndImpossibleOnesNone) {
  PartMap map;
  map.add(0x1000, 0x2000, MemoryPart::kBlocks);
  map.add(0x2000, 0x3000, MemoryPart::kBlocks);
  map.add(0x5000, 0x4000, MemoryPart::kBlocks);
  map.add(0x6000, ~Address{0}, MemoryPart::kBlocks);
  EXPECT_EQ(pieces(map, 0x1000, 0x3000).size(), 1u);
  EXPECT_FALSE(map.has(0x4000));
  EXPECT_FALSE(map.has(0x6000));
}

target::MappedPages named(std::string path, ino_t inode = 5) {
  target::MappedPages pages;
  pages.mapping.readable = true;
  pages.mapping.path = std::move(path);
  pages.mapping.inode = inode;
  return pages;
}

TEST(MemoryParts, MappingsAreToldByTheirNames) {
  EXPECT_EQ(part_of_mapping(named("[heap]", 0), false), MemoryPart::kMainArena);
  EXPECT_EQ(part_of_mapping(named("[stack]", 0), false), MemoryPart::kOtherStacks);
  EXPECT_EQ(part_of_mapping(named("[vdso]", 0), false), MemoryPart::kOther);
  EXPECT_EQ(part_of_mapping(named("/jdk/lib/server/classes.jsa"), false), MemoryPart::kArchive);
  EXPECT_EQ(part_of_mapping(named("/tmp/hsperfdata_app/17"), false), MemoryPart::kCounters);
  EXPECT_EQ(part_of_mapping(named("/jdk/lib/server/libjvm.so"), true), MemoryPart::kLibraries);
  EXPECT_EQ(part_of_mapping(named("/app/data"), false), MemoryPart::kFiles);
  EXPECT_EQ(part_of_mapping(named("", 0), false), MemoryPart::kUnknown);
  auto reserved = named("", 0);
  reserved.mapping.readable = false;
  EXPECT_EQ(part_of_mapping(reserved, false), MemoryPart::kReserved);
  reserved.rss = kPage;
  EXPECT_EQ(part_of_mapping(reserved, false), MemoryPart::kUnknown);
}

// Memory that looks like malloc's, at an address that suits an arena.
class Malloc : public ::testing::Test {
 protected:
  static constexpr Address kBase = 0x7f0000000000;  // a multiple of 64 MiB
  static constexpr std::uint64_t kSize = 64 * kPage;

  void put(std::uint64_t offset, std::uint64_t word) { std::memcpy(bytes_.data() + offset, &word, sizeof word); }
  void make_arena(std::uint64_t size) {
    put(0, kBase + 0x20);
    put(8, 0);
    put(16, size);
    put(24, size);
  }
  MallocMemory find() {
    target::MappedPages pages;
    pages.mapping = {.start = kBase, .end = kBase + kSize, .readable = true, .writable = true};
    pages.rss = kSize;
    return find_malloc(
        memory_, {pages}, [](Address) { return true; }, parts_);
  }
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kSize);
  target::BufferMemory memory_{kBase, bytes_};
  PartMap parts_;
};

constexpr std::uint64_t kFirstChunk = 0x8c0;  // heap_info, malloc_state, alignment

TEST_F(Malloc, AnArenaIsKnownByItsHeaderAndItsFreeChunksAreCounted) {
  make_arena(4 * kPage);
  std::uint64_t at = kFirstChunk;
  put(at + 8, 0x100 | 5);  // in use: the next says so
  at += 0x100;
  put(at + 8, 0x200 | 5);  // free
  at += 0x200;
  put(at + 8, 0x80 | 4);
  at += 0x80;
  const std::uint64_t top = 4 * kPage - at;
  put(at + 8, top | 5);
  const MallocMemory found = find();
  EXPECT_EQ(found.arenas, 1u);
  EXPECT_EQ(found.heaps, 1u);
  EXPECT_EQ(found.held, 4 * kPage);
  EXPECT_EQ(found.free, 0x200 + top);
  EXPECT_EQ(found.unparsable, 0u);
  EXPECT_TRUE(parts_.has(kBase + 5 * kPage));
}

TEST_F(Malloc, AChunkThatCannotBeEndsTheWalk) {
  make_arena(4 * kPage);
  for (std::uint64_t at = kFirstChunk; at < kFirstChunk + 0x400; at += 0x100) put(at + 8, 0x100 | 5);
  put(kFirstChunk + 0x408, 0x7fffff0 | 5);
  const MallocMemory found = find();
  EXPECT_EQ(found.free, 0u);
  EXPECT_EQ(found.unparsable, 4 * kPage - kFirstChunk - 0x400);
}

TEST_F(Malloc, OtherMemoryIsNoArena) {
  EXPECT_EQ(find().arenas, 0u);
  make_arena(128 * kPage);  // more than the mapping has
  EXPECT_EQ(find().arenas, 0u);
  make_arena(4 * kPage);
  put(0, kBase + 0x21);
  EXPECT_EQ(find().arenas, 0u);
  put(0, kBase - (64u << 20) + 0x20);  // a later heap without the first
  put(8, kBase - (64u << 20));
  EXPECT_EQ(find().arenas, 0u);
  EXPECT_FALSE(parts_.has(kBase));
}

TEST_F(Malloc, LargeBlocksAreFoundOneAfterTheOther) {
  constexpr std::uint64_t kBlock = 33 * kPage;
  put(8, kBlock | 2);
  put(kBlock + 8, (31 * kPage) | 2);  // too small to be one
  MallocMemory found = find();
  EXPECT_EQ(found.blocks, 1u);
  EXPECT_TRUE(parts_.has(kBase + kBlock - 1));
  EXPECT_FALSE(parts_.has(kBase + kBlock));
}

TEST_F(Malloc, ABlockOfLaterGlibcEndsBeforeItsMapping) {
  put(8, (64 * kPage - 16) | 2);
  EXPECT_EQ(find().blocks, 1u);
  EXPECT_TRUE(parts_.has(kBase + 64 * kPage - 1));
}

TEST_F(Malloc, ABlockThatIsLargerThanItsMappingIsNone) {
  put(8, (65 * kPage) | 2);
  EXPECT_EQ(find().blocks, 0u);
}

}  // namespace
}  // namespace jtrace::coreinspect
