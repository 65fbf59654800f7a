#include "debug/packet.h"

#include <gtest/gtest.h>

namespace jtrace::debug {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Packet, AHeaderIsElevenBytesBigEndian) {
  const std::string bytes("\0\0\0\x0b\x01\x02\x03\x04\x00\x01\x07", 11);
  const auto header = read_header(bytes_of(bytes));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->length, 11u);
  EXPECT_EQ(header->id, 0x01020304u);
  EXPECT_EQ(header->set, 1);
  EXPECT_EQ(header->command, 7);
  EXPECT_FALSE(read_header(bytes_of(bytes.substr(0, 10))));
}

TEST(Packet, WhatIsWrittenIsReadAgain) {
  PacketWriter out;
  out.u1(200).u4(0xfffffffe).u8(0x0102030405060708).text("gr\xc3\xbc\xc3\x9f").flag(true);
  PacketReader in(bytes_of(out.bytes()));
  EXPECT_EQ(in.u1(), 200);
  EXPECT_EQ(in.i4(), -2);
  EXPECT_EQ(in.u8(), 0x0102030405060708u);
  EXPECT_EQ(in.text(), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(in.u1(), 1);
  EXPECT_FALSE(in.failed());
  EXPECT_EQ(in.u1(), 0);
  EXPECT_TRUE(in.failed());
}

TEST(Packet, ATextLongerThanTheBodyIsRefused) {
  PacketWriter out;
  out.u4(0x7fffffff).raw("abc");
  PacketReader in(bytes_of(out.bytes()));
  EXPECT_EQ(in.text(), "");
  EXPECT_TRUE(in.failed());
}

TEST(Packet, ACountThatCannotBeIsRefusedBeforeAnythingIsAllocated) {
  PacketWriter out;
  out.u4(3).u8(1).u8(2);
  PacketReader in(bytes_of(out.bytes()));
  EXPECT_EQ(in.count(8), 0u);
  EXPECT_TRUE(in.failed());
  PacketReader again(bytes_of(out.bytes()));
  EXPECT_EQ(again.count(5), 3u);
  EXPECT_FALSE(again.failed());
}

TEST(Packet, ValuesHaveTheSizeOfTheirTag) {
  PacketWriter out;
  out.u1('Z').u1(1).u1('C').u2(0x20ac).u1('I').u4(7).u1('s').u8(99).u1('V');
  PacketReader in(bytes_of(out.bytes()));
  EXPECT_EQ(in.value().bits, 1u);
  EXPECT_EQ(in.value().bits, 0x20acu);
  EXPECT_EQ(in.value().bits, 7u);
  const auto text = in.value();
  EXPECT_EQ(text.tag, Tag::kString);
  EXPECT_EQ(text.bits, 99u);
  EXPECT_EQ(in.value().tag, Tag::kVoid);
  EXPECT_FALSE(in.failed());
  const std::string no_tag = "?";
  PacketReader unknown(bytes_of(no_tag));
  (void)unknown.value();
  EXPECT_TRUE(unknown.failed());
}

TEST(Packet, AnErrorHasNoBody) {
  const std::string reply = reply_packet(5, JdwpError::kNotImplemented, "half an answer");
  ASSERT_EQ(reply.size(), kHeaderSize);
  EXPECT_EQ(reply, std::string("\0\0\0\x0b\0\0\0\x05\x80\0\x63", 11));
  EXPECT_EQ(reply_packet(5, JdwpError::kNone, "abc").size(), kHeaderSize + 3);
}

TEST(Packet, AReaderNeverReadsBeyondItsBody) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string body(size, '\x03');
    PacketReader in(bytes_of(body));
    (void)in.count(1), (void)in.text(), (void)in.value(), (void)in.u8(), (void)in.value();
    PacketReader other(bytes_of(body));
    for (int i = 0; i < 20; ++i) (void)other.value();
    EXPECT_TRUE(other.failed());
  }
}

}  // namespace
}  // namespace jtrace::debug
