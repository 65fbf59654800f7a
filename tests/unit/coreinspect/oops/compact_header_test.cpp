// Headers that contain the class, of objects that are being copied.
#include "coreinspect/oops/compact_header.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

constexpr target::Address kHeap = 0x80000000;
constexpr std::uint64_t kClass = std::uint64_t{0x1234} << 42;

// Reads the header of the object at kHeap, which consists of these words.
Result<std::uint64_t> header_of(const std::vector<std::uint64_t>& words) {
  const target::BufferMemory memory(kHeap, std::as_bytes(std::span(words)));
  return compact_header(memory, kHeap);
}

TEST(CompactHeader, IsTheObjectsOwn) { EXPECT_EQ(header_of({kClass | 1}), kClass | 1); }

TEST(CompactHeader, IsTheCopysWhereThereIsOne) { EXPECT_EQ(header_of({(kHeap + 16) | 3, 0, kClass | 1}), kClass | 1); }

// Sliding collections: the bits before the class are an offset.
TEST(CompactHeader, KeepsTheClassOfASlidingCollection) { EXPECT_EQ(header_of({kClass | 48 | 3}), kClass | 48 | 3); }

TEST(CompactHeader, IsUnchangedIfThereCanBeNoCopy) {
  EXPECT_EQ(header_of({(kHeap + 4096) | 3}), (kHeap + 4096) | 3);
  EXPECT_EQ(header_of({kHeap | 3}), kHeap | 3);  // a circle
}

TEST(CompactHeader, OfNothingIsAnError) { EXPECT_FALSE(header_of({})); }

}  // namespace
}  // namespace jtrace::coreinspect
