#include "target/memory_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace jtrace::target {
namespace {

constexpr Address kStart = 0x1000, kEnd = 0x3000, kPage = 0x1000;

// Two pages of ones; no read goes beyond its page.
class TwoPages final : public MemoryReader {
 public:
  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override {
    if (address < kStart || address >= kEnd) return fail(ErrorCategory::kMalformed, "no memory");
    const std::size_t count = std::min<std::size_t>(out.size(), kPage - address % kPage);
    std::fill_n(out.begin(), count, std::byte{1});
    return count;
  }
};

TEST(MemoryReader, ReadsAsFarAsTheMemoryIsReadable) {
  const TwoPages memory;
  std::vector<std::byte> bytes(0x4000);
  EXPECT_EQ(memory.read_available(kStart, bytes), 0x2000u);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{1}), 0x2000);
  EXPECT_EQ(memory.read_available(kEnd - 8, bytes), 8u);
  EXPECT_EQ(memory.read_available(kStart + 8, std::span(bytes).first(0x1800)), 0x1800u) << "over the end of a page";
  EXPECT_EQ(memory.read_available(kEnd, bytes), 0u);
  EXPECT_EQ(memory.read_available(kStart, {}), 0u);
}

}  // namespace
}  // namespace jtrace::target
