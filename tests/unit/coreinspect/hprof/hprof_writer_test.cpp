// The buffers and the segments of a heap dump.
#include "coreinspect/hprof/hprof_writer.h"

#include <gtest/gtest.h>

#include <array>

namespace jtrace::coreinspect {
namespace {

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
