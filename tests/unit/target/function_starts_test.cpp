// Where functions begin, from tables of unwind information: a made-up one, and this program's own.
#include "target/function_starts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "target/elf_image.h"

namespace jtrace::target {
namespace {

constexpr Address kHeader = 0x5000;

std::vector<std::byte> table(std::vector<std::int32_t> starts, std::uint8_t form = 0x3b) {
  std::vector<std::byte> bytes(12 + 8 * starts.size());
  const std::uint8_t head[] = {1, 0x1b, 0x03, form};
  std::memcpy(bytes.data(), head, sizeof head);
  const auto count = static_cast<std::uint32_t>(starts.size());
  std::memcpy(bytes.data() + 8, &count, sizeof count);
  for (std::size_t i = 0; i < starts.size(); ++i) std::memcpy(bytes.data() + 12 + 8 * i, &starts[i], 4);
  return bytes;
}

TEST(FunctionStarts, AreThoseNearestBelow) {
  const auto bytes = table({-0x4000, -0x3000, 0x100});
  const FunctionStarts starts(bytes, kHeader);
  EXPECT_EQ(starts.at_or_below(0xfff), std::nullopt);
  EXPECT_EQ(starts.at_or_below(0x1000), 0x1000u);
  EXPECT_EQ(starts.at_or_below(0x1fff), 0x1000u);
  EXPECT_EQ(starts.at_or_below(0x2000), 0x2000u);
  EXPECT_EQ(starts.at_or_below(0x99999), 0x5100u);
}

TEST(FunctionStarts, OfAnotherFormAreNone) {
  EXPECT_EQ(FunctionStarts().at_or_below(0x1000), std::nullopt);
  EXPECT_EQ(FunctionStarts(table({0}, 0x1b), kHeader).at_or_below(0x6000), std::nullopt);
  auto cut = table({0, 1, 2});
  cut.resize(cut.size() - 1);
  EXPECT_EQ(FunctionStarts(cut, kHeader).at_or_below(0x6000), std::nullopt);
  EXPECT_EQ(FunctionStarts(std::span(cut).first(11), kHeader).at_or_below(0x6000), std::nullopt);
}

// The symbols know them too.
TEST(FunctionStarts, OfThisProgramAreThoseOfItsSymbols) {
  const auto image = ElfImage::open("/proc/self/exe");
  ASSERT_TRUE(image);
  std::size_t same = 0, all = 0;
  for (const ElfSymbol& symbol : image->symbols()) {
    if (!symbol.is_function || symbol.size < 64 || ++all > 2000) continue;
    if (image->function_start(symbol.value + symbol.size / 2) == symbol.value) ++same;
  }
  ASSERT_GT(all, 100u);
  EXPECT_GT(same, std::min<std::size_t>(all, 2000) * 9 / 10);  // some are made by hand, without unwind information
}

}  // namespace
}  // namespace jtrace::target
