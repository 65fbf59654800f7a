#include "base/checksum.h"

#include <gtest/gtest.h>

#include <string_view>

namespace jtrace {
namespace {

std::uint64_t sum(std::string_view text, std::uint64_t seed = 0) { return xxh64(std::as_bytes(std::span(text)), seed); }

// Values of xxhsum 0.8.1.
TEST(ChecksumTest, IsXxh64) {
  EXPECT_EQ(sum(""), 0xef46db3751d8e999u);
  EXPECT_EQ(sum("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(sum("abc"), 0x44bc2cf5ad770999u);
}

TEST(ChecksumTest, SeesEachByteAndTheSeed) {
  std::string text(100, 'x');
  const std::uint64_t before = sum(text);
  EXPECT_NE(sum(text, 1), before);
  for (char& c : text) {
    c ^= 1;
    EXPECT_NE(sum(text), before);
    c ^= 1;
  }
}

}  // namespace
}  // namespace jtrace
