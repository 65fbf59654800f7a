// Headers that hold the class, of objects that are being copied away.
#include "coreinspect/oops/compact_header.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace jtrace::coreinspect {
namespace {

constexpr target::Address kHeap = 0x80000000;
constexpr std::uint64_t kClass = std::uint64_t{0x1234} << 42;

class Words final : public target::MemoryReader {
 public:
  explicit Words(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override {
    if (address < kHeap || address - kHeap >= words_.size() * 8) return fail(ErrorCategory::kNotFound, "not there");
    const std::size_t count = std::min<std::size_t>(out.size(), kHeap + words_.size() * 8 - address);
    std::memcpy(out.data(), reinterpret_cast<const std::byte*>(words_.data()) + (address - kHeap), count);
    return count;
  }

 private:
  std::vector<std::uint64_t> words_;
};

std::uint64_t header_of(std::vector<std::uint64_t> words) {
  const Words memory(std::move(words));
  return compact_header(memory, kHeap).value_or(0);
}

TEST(CompactHeader, IsTheObjectsOwn) { EXPECT_EQ(header_of({kClass | 1}), kClass | 1); }

TEST(CompactHeader, IsTheCopysWhereThereIsOne) { EXPECT_EQ(header_of({(kHeap + 16) | 3, 0, kClass | 1}), kClass | 1); }

// Sliding collections: what stands before the class is an offset.
TEST(CompactHeader, KeepsTheClassOfASlidingCollection) { EXPECT_EQ(header_of({kClass | 48 | 3}), kClass | 48 | 3); }

TEST(CompactHeader, IsWhatStandsThereWhereTheCopyCannotBe) {
  EXPECT_EQ(header_of({(kHeap + 4096) | 3}), (kHeap + 4096) | 3);
  EXPECT_EQ(header_of({kHeap | 3}), kHeap | 3);  // a circle
}

TEST(CompactHeader, OfNothingIsAnError) { EXPECT_FALSE(compact_header(Words({}), kHeap)); }

}  // namespace
}  // namespace jtrace::coreinspect
