#include "trace/record/spill_writer.h"

#include <xxhash.h>

#include <cstring>

#include "trace/record/layout.h"

namespace jtrace::trace::record {

std::uint64_t check_of(const BlockHeader& header, std::span<const std::byte> payload) {
  const auto above = std::as_bytes(std::span(&header, 1)).first(offsetof(BlockHeader, check));
  return XXH64(payload.data(), payload.size(), XXH64(above.data(), above.size(), 0));
}

Result<> SpillWriter::begin() {
  SpillHeader header{{}, kSpillVersion, kLayoutVersion};
  std::memcpy(header.magic, kSpillMagic, sizeof header.magic);
  return bytes_->write({reinterpret_cast<const char*>(&header), sizeof header});
}

Result<> SpillWriter::write(BlockKind kind, std::span<const std::byte> payload) {
  auto written = append({.kind = kind, .size = 0, .producer = 0, .sequence = 0, .offset = 0, .check = 0}, payload);
  return written ? Result<>() : fail(std::move(written).error());
}

Result<> SpillWriter::write_part(BlockKind kind, const EventPart& part, std::span<const std::byte>& copy) {
  const BlockHeader header{
      .kind = kind, .size = 0, .producer = part.producer, .sequence = part.sequence, .offset = part.offset, .check = 0};
  JTRACE_ASSIGN_OR_RETURN(copy, append(header, {part.data, part.size}));
  return {};
}

Result<std::span<const std::byte>> SpillWriter::append(BlockHeader header, std::span<const std::byte> payload) {
  constexpr std::size_t kAlignment = 8;
  const std::size_t padded = (payload.size() + kAlignment - 1) / kAlignment * kAlignment;
  header.size = static_cast<std::uint32_t>(payload.size());
  char* const room = bytes_->reserve(sizeof header + padded);
  if (room == nullptr) return fail(*bytes_->status());
  char* const data = room + sizeof header;
  std::memcpy(data, payload.data(), payload.size());
  std::memset(data + payload.size(), 0, padded - payload.size());
  const std::span<const std::byte> copy(reinterpret_cast<const std::byte*>(data), payload.size());
  header.check = check_of(header, copy);
  std::memcpy(room, &header, sizeof header);
  bytes_->commit(sizeof header + padded);
  return copy;
}

}  // namespace jtrace::trace::record
