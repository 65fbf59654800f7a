#include "debug/packet.h"

namespace jtrace::debug {

std::optional<CommandHeader> read_header(std::span<const std::byte> bytes) {
  ByteReader reader(bytes, std::endian::big);
  CommandHeader header;
  header.length = reader.read<std::uint32_t>();
  header.id = reader.read<std::uint32_t>();
  header.flags = reader.read<std::uint8_t>();
  header.set = reader.read<std::uint8_t>();
  header.command = reader.read<std::uint8_t>();
  if (reader.failed()) return std::nullopt;
  return header;
}

std::uint32_t PacketReader::count(std::size_t size) {
  const auto value = bytes_.read<std::uint32_t>();
  if (!bytes_.failed() && value <= bytes_.remaining() / size) return value;
  failed_ = true;
  return 0;
}

PacketReader::Value PacketReader::value() {
  const std::uint8_t byte = u1();
  if (!is_tag(byte)) {
    failed_ = true;
    return {};
  }
  const auto tag = static_cast<Tag>(byte);
  switch (size_of(tag)) {
    case 1: return {tag, bytes_.read<std::uint8_t>()};
    case 2: return {tag, bytes_.read<std::uint16_t>()};
    case 4: return {tag, bytes_.read<std::uint32_t>()};
    case 8: return {tag, u8()};
    default: return {tag, 0};
  }
}

PacketWriter& PacketWriter::text(std::string_view utf8) { return u4(utf8.size()).raw(utf8); }

void PacketWriter::set_later(std::size_t at, std::uint32_t value) {
  value = byte_swapped(value);
  std::memcpy(bytes_.data() + at, &value, sizeof value);
}

std::string reply_packet(std::uint32_t id, JdwpError error, std::string_view body) {
  if (error != JdwpError::kNone) body = {};
  PacketWriter packet;
  packet.u4(kHeaderSize + body.size()).u4(id).u1(kReplyFlag).u2(static_cast<std::uint16_t>(error)).raw(body);
  return packet.bytes();
}

std::string command_packet(std::uint32_t id, std::uint8_t set, std::uint8_t command, std::string_view body) {
  PacketWriter packet;
  packet.u4(kHeaderSize + body.size()).u4(id).u1(0).u1(set).u1(command).raw(body);
  return packet.bytes();
}

}  // namespace jtrace::debug
