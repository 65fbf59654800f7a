// The heap's readers without a JVM: where their bytes come from, and copies of them.
#include "coreinspect/gc/heap_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "coreinspect/gc/heap_source.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

using target::BufferMemory;

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 >> 3);
  return bytes;
}

// The same bytes, but never as one piece of this process's memory.
class FarMemory final : public target::MemoryReader {
 public:
  FarMemory(Address base, std::span<const std::byte> bytes) : near_(base, bytes) {}
  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override {
    return near_.read_some(address, out.first(std::min<std::size_t>(out.size(), 1000)));
  }

 private:
  BufferMemory near_;
};

TEST(HeapSource, GivesTheSameBytesNearAndFar) {
  const auto bytes = counted(3u << 20);
  const BufferMemory near(0x10000, bytes);
  const FarMemory far(0x10000, bytes);
  HeapSource near_source(near), far_source(far);
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{1u << 20}, bytes.size() - 40}) {
    for (HeapSource* source : {&near_source, &far_source}) {
      const auto window = source->window(0x10000 + at, 0x10000 + bytes.size(), 64);
      ASSERT_GE(window.size(), std::min<std::size_t>(64, bytes.size() - at));
      EXPECT_TRUE(std::equal(window.begin(), window.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
    }
  }
  EXPECT_EQ(near_source.copied(), 0u);
  EXPECT_GT(far_source.copied(), 1u << 20);
  EXPECT_TRUE(far_source.window(0x10, 0x20, 8).empty());
}

TEST(HeapCopy, HoldsItsRangesAndAsksBelowForTheRest) {
  auto bytes = counted(8u << 20);
  const FarMemory far(0x100000, bytes);
  auto copy = HeapCopy::make(far, 6u << 20);
  ASSERT_TRUE(copy);
  const std::array<AddressRange, 2> ranges = {{{0x100000, 0x100000 + (3u << 20)}, {0x500000, 0x500000 + 4096}}};
  ASSERT_TRUE((*copy)->copy(ranges, 2, [](auto, auto) { return true; }));
  EXPECT_EQ((*copy)->copied(), (3u << 20) + 4096);
  EXPECT_EQ((*copy)->view(0x100010).size(), (3u << 20) - 16);
  EXPECT_TRUE((*copy)->view(0x100000 + (3u << 20)).empty());
  const auto before = (*copy)->read<std::uint64_t>(0x100100);
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  EXPECT_EQ(*(*copy)->read<std::uint64_t>(0x100100), *before);  // as at the time of the copy
  EXPECT_EQ(*(*copy)->read<std::uint64_t>(0x480000), 0u);       // the target's current value
  const std::array<AddressRange, 1> more = {{{0x500000, 0x800000}}};
  EXPECT_FALSE((*copy)->copy(more, 1, [](auto, auto) { return true; }));  // no room
}

TEST(HeapCopy, StopsWhenTheTimeIsOver) {
  const auto bytes = counted(8u << 20);
  const FarMemory far(0x100000, bytes);
  auto copy = HeapCopy::make(far, bytes.size());
  ASSERT_TRUE(copy);
  const std::array<AddressRange, 1> all = {{{0x100000, 0x100000 + bytes.size()}}};
  const auto done = (*copy)->copy(all, 1, [](auto, auto) { return false; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().category, ErrorCategory::kTimeout);
}

}  // namespace
}  // namespace jtrace::coreinspect
