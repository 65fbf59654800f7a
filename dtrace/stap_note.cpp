#include "dtrace/stap_note.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/bytes.h"
#include "base/strings.h"

namespace jtrace::dtrace {
namespace {

constexpr std::uint32_t kNoteType = 3;  // NT_STAPSDT, sys/sdt.h
constexpr std::string_view kOwner{"stapsdt", 8};

constexpr std::string_view kNames[kRegisterCount] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                     "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

struct RegisterPart {
  Register number;
  std::uint8_t shift = 0;
};

// "rax", "eax", "ax", "al", "ah", "sil", "r8", "r8d", "r8w", "r8b".
std::optional<RegisterPart> register_of(std::string_view name) {
  for (int i = 0; i < kRegisterCount; ++i) {
    const std::string_view full = kNames[i];
    const auto number = static_cast<Register>(i);
    if (name == full) return RegisterPart{number};
    if (i >= 8) {
      if (name.size() == full.size() + 1 && name.starts_with(full) &&
          std::string_view("dwb").find(name.back()) != std::string_view::npos)
        return RegisterPart{number};
      continue;
    }
    const std::string_view tail = full.substr(1);  // "ax"
    if (name == tail || (name.size() == 3 && name.front() == 'e' && name.substr(1) == tail))
      return RegisterPart{number};
    if (i < 4 && name.size() == 2 && name.front() == tail.front()) {
      if (name.back() == 'l') return RegisterPart{number};
      if (name.back() == 'h') return RegisterPart{number, 8};
    }
    if (i >= 4 && name.size() == 3 && name.starts_with(tail) && name.back() == 'l') return RegisterPart{number};
  }
  return std::nullopt;
}

// Decimal or 0x..., with a sign; must be the whole text.
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

std::optional<Register> full_register(std::string_view text) {
  if (!text.starts_with('%')) return std::nullopt;
  const auto part = register_of(text.substr(1));
  // An address consists of 64-bit registers.
  if (!part || register_name(part->number) != text.substr(1)) return std::nullopt;
  return part->number;
}

// "disp(%base,%index,scale)"; each part may be missing.
bool parse_memory(std::string_view text, Operand& operand) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return false;
  if (open > 0) {
    const auto displacement = number_of(text.substr(0, open));
    if (!displacement) return false;
    operand.displacement = *displacement;
  }
  const auto parts = split(text.substr(open + 1, text.size() - open - 2), ',');
  if (parts.empty() || parts.size() > 3) return false;
  if (!parts[0].empty()) {
    const auto base = full_register(parts[0]);
    if (!base) return false;
    operand.base = *base;
    operand.has_base = true;
  }
  if (parts.size() > 1) {
    const auto index = full_register(parts[1]);
    if (!index) return false;
    operand.index = *index;
    operand.has_index = true;
  }
  if (parts.size() > 2) {
    const auto scale = number_of(parts[2]);
    if (scale != 1 && scale != 2 && scale != 4 && scale != 8) return false;
    operand.scale = static_cast<std::uint8_t>(*scale);
  }
  operand.kind = OperandKind::kMemory;
  return operand.has_base || operand.has_index;
}

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

Operand parse_operand(std::string_view text) {
  Operand operand;
  const Operand unknown{.text = std::string(text)};
  operand.text = std::string(text);
  if (!parse_size(text, operand) || text.empty()) return unknown;
  if (text.front() == '$') {
    const auto value = number_of(text.substr(1));
    if (!value) return unknown;
    operand.kind = OperandKind::kImmediate;
    operand.displacement = *value;
    return operand;
  }
  if (text.front() == '%') {
    const auto part = register_of(text.substr(1));
    if (!part) return unknown;
    operand.kind = OperandKind::kRegister;
    operand.base = part->number;
    operand.has_base = true;
    operand.shift = part->shift;
    return operand;
  }
  if (!parse_memory(text, operand)) return unknown;
  return operand;
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

std::string_view register_name(Register number) { return kNames[static_cast<std::size_t>(number)]; }

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

std::vector<Operand> parse_operands(std::string_view arguments) {
  std::vector<Operand> operands;
  for (const std::string_view part : split(arguments, ' '))
    if (!part.empty()) operands.push_back(parse_operand(part));
  return operands;
}

}  // namespace jtrace::dtrace
