#include "base/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace jtrace {
namespace {

template <class... B>
std::array<std::byte, sizeof...(B)> bytes(B... b) {
  return {static_cast<std::byte>(b)...};
}

TEST(ByteReader, ReadsBothByteOrders) {
  const auto data = bytes(1, 2, 3, 4);
  EXPECT_EQ(ByteReader(data, std::endian::big).read<std::uint32_t>(), 0x01020304u);
  EXPECT_EQ(ByteReader(data, std::endian::little).read<std::uint32_t>(), 0x04030201u);
}

TEST(ByteReader, ReadingPastTheEndFailsAndStaysFailed) {
  const auto data = bytes(1, 2);
  ByteReader reader(data);
  EXPECT_EQ(reader.read<std::uint32_t>(), 0u);
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.read<std::uint8_t>(), 0u);
}

TEST(ByteReader, Leb128StopsAt64Bits) {
  const auto good = bytes(0xe5, 0x8e, 0x26);
  EXPECT_EQ(ByteReader(good).read_uleb128(), 624485u);
  const auto endless = bytes(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
  ByteReader reader(endless);
  reader.read_uleb128();
  EXPECT_TRUE(reader.failed());
}

}  // namespace
}  // namespace jtrace
