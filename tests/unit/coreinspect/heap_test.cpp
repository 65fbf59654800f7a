// Parts of the heap readers that need no JVM: where bytes come from, copies, the buffers of a heap dump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "coreinspect/gc/heap_copy.h"
#include "coreinspect/gc/heap_source.h"
#include "coreinspect/hprof/hprof_writer.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

using target::BufferMemory;

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 >> 3);
  return bytes;
}

// The same bytes, never in one piece with this process's memory.
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
  EXPECT_EQ(*(*copy)->read<std::uint64_t>(0x100100), *before);  // of the moment of the copy
  EXPECT_EQ(*(*copy)->read<std::uint64_t>(0x480000), 0u);       // of below, now
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

TEST(HprofBuffer, IsBigEndianAndGrows) {
  HprofBuffer buffer(1);
  buffer.u1(0x21);
  buffer.u2(0x0102);
  buffer.u4(0x03040506);
  buffer.id(0x0708090a0b0c0d0eull);
  const std::array<std::uint32_t, 2> words = {0x01020304, 0xa0b0c0d0};
  buffer.append_swapped(reinterpret_cast<const std::byte*>(words.data()), words.size(), 4);
  EXPECT_EQ(buffer.text(), std::string_view("\x21\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e"
                                            "\x01\x02\x03\x04\xa0\xb0\xc0\xd0",
                                            23));
}

TEST(HprofWriter, WritesEachTextOnceAndSegmentsWithTheirLength) {
  trace::MemorySink sink;
  HprofWriter writer(sink);
  ASSERT_TRUE(writer.header(5));
  EXPECT_EQ(writer.text("a"), 1u);
  EXPECT_EQ(writer.text("b"), 2u);
  EXPECT_EQ(writer.text("a"), 1u);
  HprofBuffer segment;
  ASSERT_TRUE(writer.write_segment(segment));  // nothing
  segment.u4(7);
  ASSERT_TRUE(writer.write_segment(segment));
  ASSERT_TRUE(writer.end());
  ASSERT_TRUE(sink.flush());
  const std::string expected = std::string("JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\x05", 31) +
                               std::string(
                                   "\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x01"
                                   "a",
                                   18) +
                               std::string(
                                   "\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x02"
                                   "b",
                                   18) +
                               std::string("\x1c\0\0\0\0\0\0\0\x04\0\0\0\x07", 13) +
                               std::string("\x2c\0\0\0\0\0\0\0\0", 9);
  EXPECT_EQ(sink.text(), expected);
}

}  // namespace
}  // namespace jtrace::coreinspect
