// Packets of JDWP: the header, a bounds-checked reader of a body, and a writer.
//
// A packet: u4 length with the header's 11 bytes, u4 id, u1 flags; then of a command u1 set, u1 command, of a reply u2
// error. Big endian. Values. Threads: one reader or writer, one thread.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "debug/protocol.h"

namespace jtrace::debug {

struct CommandHeader {
  std::uint32_t length = 0, id = 0;
  std::uint8_t flags = 0, set = 0, command = 0;
};
// Nothing if there are fewer than kHeaderSize bytes.
std::optional<CommandHeader> read_header(std::span<const std::byte> bytes);

// Reads past the end give zero and set failed(); a text or a count that cannot be in the body does too, before
// anything is allocated.
class PacketReader {
 public:
  explicit PacketReader(std::span<const std::byte> body) : bytes_(body, std::endian::big) {}

  std::uint8_t u1() { return bytes_.read<std::uint8_t>(); }
  std::int32_t i4() { return bytes_.read<std::int32_t>(); }
  std::uint64_t u8() { return bytes_.read<std::uint64_t>(); }
  Id id() { return u8(); }
  std::string_view text() { return bytes_.read_text(count(1)); }
  // A number of elements of at least `size` bytes each.
  std::uint32_t count(std::size_t size);
  // A value with its tag: the number, or the id.
  struct Value {
    Tag tag = Tag::kVoid;
    std::uint64_t bits = 0;
  };
  Value value();
  bool failed() const { return failed_ || bytes_.failed(); }

 private:
  ByteReader bytes_;
  bool failed_ = false;
};

class PacketWriter {
 public:
  PacketWriter& u1(std::uint64_t value) { return number(value, 1); }
  PacketWriter& u2(std::uint64_t value) { return number(value, 2); }
  PacketWriter& u4(std::uint64_t value) { return number(value, 4); }
  PacketWriter& u8(std::uint64_t value) { return number(value, 8); }
  PacketWriter& id(Id value) { return number(value, 8); }
  PacketWriter& flag(bool value) { return number(value ? 1 : 0, 1); }
  PacketWriter& text(std::string_view utf8);
  PacketWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  // A primitive value without its tag; the low bytes of `bits`.
  PacketWriter& primitive(Tag tag, std::uint64_t bits) { return number(bits, size_of(tag)); }
  // Room for a count that is known later.
  std::size_t later() {
    u4(0);
    return bytes_.size() - 4;
  }
  void set_later(std::size_t at, std::uint32_t value);
  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }

 private:
  PacketWriter& number(std::uint64_t value, std::size_t size) {
    char bytes[8];
    value = byte_swapped(value);
    std::memcpy(bytes, &value, sizeof bytes);
    bytes_.append(bytes + sizeof bytes - size, size);
    return *this;
  }
  std::string bytes_;
};

// With an error: without the body.
std::string reply_packet(std::uint32_t id, JdwpError error, std::string_view body);
std::string command_packet(std::uint32_t id, std::uint8_t set, std::uint8_t command, std::string_view body);

}  // namespace jtrace::debug
