// What is laid over the memory of a target, and which pages are recorded.
#include "coreinspect/types/cached_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/testlib/must.h"

namespace jtrace::coreinspect::test {
namespace {

using jtrace::test::must;
using target::Address;
using ::testing::ElementsAre;

constexpr Address kStart = 0x10000;
constexpr std::size_t kSize = 4 * CachedMemory::kPage;

// Each byte is 0 until it is covered.
class Zeros final : public target::MemoryReader {
 public:
  Result<std::size_t> read_some(Address, std::span<std::byte> out) const override {
    std::fill(out.begin(), out.end(), std::byte{0});
    return out.size();
  }
};

std::vector<std::byte> all_of(const CachedMemory& memory) {
  std::vector<std::byte> bytes(kSize);
  must(memory.read_exactly(kStart, bytes));
  return bytes;
}

// Pieces over pieces at random, beside a plain array to which the same was written.
TEST(CachedMemory, ShowsTheLastOfThePiecesThatCoverAByte) {
  std::mt19937 random(7);
  const Zeros below;
  for (int round = 0; round < 200; ++round) {
    CachedMemory memory(below);
    std::vector<std::byte> expected(kSize);
    for (int i = 1; i <= 12; ++i) {
      const std::size_t at = random() % kSize, size = random() % (kSize - at + 1);
      memory.overlay(kStart + at, std::vector<std::byte>(size, std::byte(i)));
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(at), size, std::byte(i));
      ASSERT_EQ(all_of(memory), expected) << "round " << round << ", piece " << i;
    }
  }
}

TEST(CachedMemory, RecordsThePagesThatAreNoted) {
  const Zeros below;
  CachedMemory memory(below);
  std::set<Address> pages;
  memory.note(kStart + 2 * CachedMemory::kPage, 8);
  memory.record(&pages);
  memory.note(kStart + CachedMemory::kPage - 4, 8);
  memory.record(nullptr);
  memory.note(kStart + 3 * CachedMemory::kPage, 8);
  EXPECT_THAT(pages, ElementsAre(kStart, kStart + CachedMemory::kPage));
}

}  // namespace
}  // namespace jtrace::coreinspect::test
