#include "target/hsperfdata_strings.h"

#include <algorithm>
#include <string_view>

#include "base/bytes.h"

namespace jtrace::target {
namespace {

constexpr std::uint32_t kMagic = 0xcafec0c0;  // PERFDATA_MAGIC, always big endian
constexpr std::size_t kPrologueSize = 32;
constexpr std::size_t kEntrySize = 20;

std::string_view text_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t limit) {
  if (offset >= bytes.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  const std::string_view rest(begin, std::min(limit, bytes.size() - offset));
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::map<std::string, std::string> hsperfdata_strings(std::span<const std::byte> bytes) {
  std::map<std::string, std::string> strings;
  if (bytes.size() < kPrologueSize || ByteReader(bytes, std::endian::big).read<std::uint32_t>() != kMagic)
    return strings;
  const auto order = bytes[4] == std::byte{0} ? std::endian::big : std::endian::little;
  ByteReader prologue(bytes.subspan(24), order);
  std::size_t offset = prologue.read<std::uint32_t>();
  const auto count = prologue.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && offset <= bytes.size() && bytes.size() - offset >= kEntrySize; ++i) {
    const auto entry = bytes.subspan(offset);
    ByteReader reader(entry, order);
    const std::size_t length = reader.read<std::uint32_t>();
    const std::size_t name_offset = reader.read<std::uint32_t>();
    const std::size_t vector_length = reader.read<std::uint32_t>();
    // A JVM type signature: 'B' is a byte (JVMS 4.3.2).
    const char type = static_cast<char>(reader.read<std::uint8_t>());
    reader.skip(3);
    const std::size_t data_offset = reader.read<std::uint32_t>();
    if (length < kEntrySize || length > entry.size()) break;
    const auto whole = entry.first(length);
    if (type == 'B' && vector_length > 0)
      strings.emplace(text_at(whole, name_offset, length), text_at(whole, data_offset, vector_length));
    offset += length;
  }
  return strings;
}

}  // namespace jtrace::target
