#include "dtrace/stap_note.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/bytes.h"
#include "dtrace/operand_text.h"

namespace jtrace::dtrace {
namespace {

constexpr std::uint32_t kNoteType = 3;  // NT_STAPSDT, sys/sdt.h
constexpr std::string_view kOwner{"stapsdt", 8};

// "-4@" at the front; without it the operand has eight bytes.
bool parse_size(std::string_view& text, Operand& operand) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return true;
  const auto size = number_of(text.substr(0, at));
  if (!size) return false;  // also "8f@%xmm0"
  if (*size < -8 || *size > 8) return false;
  operand.is_signed = *size < 0;
  const std::int64_t bytes = std::abs(*size);
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
  operand.size = static_cast<std::uint8_t>(bytes);
  text.remove_prefix(at + 1);
  return true;
}

Operand parse_operand(std::string_view text, target::Isa isa) {
  Operand operand;
  const Operand unknown{.text = std::string(text)};
  operand.text = std::string(text);
  if (!parse_size(text, operand) || text.empty()) return unknown;
  const bool readable =
      isa == target::Isa::kAarch64 ? aarch64::parse_place(text, operand) : x86_64::parse_place(text, operand);
  return readable ? operand : unknown;
}

std::optional<StapNote> parse_descriptor(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  StapNote note;
  note.location = reader.read<std::uint64_t>();
  note.base = reader.read<std::uint64_t>();
  note.semaphore = reader.read<std::uint64_t>();
  if (reader.failed()) return std::nullopt;
  std::string_view texts = reader.read_text(reader.remaining());
  for (std::string* out : {&note.provider, &note.name, &note.arguments}) {
    const std::size_t end = texts.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    *out = std::string(texts.substr(0, end));
    texts.remove_prefix(end + 1);
  }
  if (note.provider.empty() || note.name.empty()) return std::nullopt;
  return note;
}

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

}  // namespace

std::optional<std::int64_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int radix = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    radix = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, radix);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

StapNotes parse_stap_notes(std::span<const std::byte> section) {
  StapNotes found;
  ByteReader reader(section, std::endian::little);
  while (reader.remaining() >= 12) {
    const auto name_size = reader.read<std::uint32_t>();
    const auto descriptor_size = reader.read<std::uint32_t>();
    const auto type = reader.read<std::uint32_t>();
    const std::string_view owner = reader.read_text(name_size);
    reader.skip(std::min(padded(name_size) - name_size, reader.remaining()));
    const auto descriptor = reader.read_bytes(descriptor_size);
    // The last note may have no padding.
    reader.skip(std::min(padded(descriptor_size) - descriptor_size, reader.remaining()));
    if (reader.failed()) {
      ++found.skipped;
      return found;
    }
    auto note = type == kNoteType && owner == kOwner ? parse_descriptor(descriptor) : std::nullopt;
    if (note) found.notes.push_back(std::move(*note));
    else ++found.skipped;
  }
  if (reader.remaining() != 0) ++found.skipped;
  return found;
}

std::vector<Operand> parse_operands(std::string_view arguments, target::Isa isa) {
  std::vector<Operand> operands;
  std::size_t start = 0;
  bool within = false;  // brackets, where blanks do not separate
  for (std::size_t i = 0; i <= arguments.size(); ++i) {
    const char c = i < arguments.size() ? arguments[i] : ' ';
    if (c == '[' || c == ']') within = c == '[';
    if (i < arguments.size() && (c != ' ' || within)) continue;
    if (i > start) operands.push_back(parse_operand(arguments.substr(start, i - start), isa));
    start = i + 1;
  }
  return operands;
}

}  // namespace jtrace::dtrace
