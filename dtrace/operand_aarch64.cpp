// As gcc and clang print operands for AArch64: "x3", "w3", "sp", "xzr", "-1", "[x0]", "[x0, 152]", "[x0, x1, lsl 3]".
#include <utility>

#include "base/strings.h"
#include "dtrace/operand_text.h"
#include "target/isa_aarch64.h"

namespace jtrace::dtrace::aarch64 {
namespace {

namespace words = target::aarch64;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "152" or "#152".
std::optional<std::int64_t> immediate(std::string_view text) {
  return number_of(text.starts_with('#') ? text.substr(1) : text);
}

// x0 to x30 and sp: those that an address consists of.
std::optional<Register> full_register(std::string_view text) {
  if (text == "sp") return Register{words::kSp};
  if (!text.starts_with('x') || text.size() < 2 || text.size() > 3) return std::nullopt;
  const bool leading_zero = text.size() == 3 && text[1] == '0';
  const auto number = number_of(text.substr(1));
  if (!number || *number < 0 || *number > 30 || leading_zero || text[1] == '-' || text[1] == '+') return std::nullopt;
  return static_cast<Register>(*number);
}

// A value in a register: by its 64 or its 32 bits; the operand's size says how many of them count.
std::optional<Register> value_register(std::string_view text) {
  if (!text.starts_with('w')) return full_register(text);
  if (text == "wsp") return Register{words::kSp};
  std::string full(text);
  full[0] = 'x';
  return full_register(full);
}

// "lsl 3": 8.
std::optional<std::uint8_t> scale_of(std::string_view text) {
  if (!text.starts_with("lsl ")) return std::nullopt;
  const auto shift = immediate(trimmed(text.substr(4)));
  if (!shift || *shift < 0 || *shift > 4) return std::nullopt;
  return static_cast<std::uint8_t>(1 << *shift);
}

bool parse_second(std::string_view text, Operand& operand) {
  if (const auto displacement = immediate(text)) {
    operand.displacement = *displacement;
    return true;
  }
  const auto index = full_register(text);
  if (!index) return false;
  operand.index = *index;
  operand.has_index = true;
  return true;
}

bool parse_memory(std::string_view text, Operand& operand) {
  if (!text.ends_with(']')) return false;
  const auto parts = split(text.substr(1, text.size() - 2), ',');
  if (parts.empty() || parts.size() > 3) return false;
  const auto base = full_register(trimmed(parts[0]));
  if (!base) return false;
  operand.base = *base;
  operand.has_base = true;
  if (parts.size() > 1 && !parse_second(trimmed(parts[1]), operand)) return false;
  if (parts.size() > 2) {
    const auto scale = scale_of(trimmed(parts[2]));
    if (!scale || !operand.has_index) return false;
    operand.scale = *scale;
  }
  operand.kind = OperandKind::kMemory;
  return true;
}

}  // namespace

bool parse_place(std::string_view text, Operand& operand) {
  if (text.starts_with('[')) return parse_memory(text, operand);
  const bool zero = text == "xzr" || text == "wzr";
  if (const auto value = zero ? 0 : immediate(text)) {
    operand.kind = OperandKind::kImmediate;
    operand.displacement = *value;
    return true;
  }
  const auto number = value_register(text);
  if (!number) return false;
  operand.kind = OperandKind::kRegister;
  operand.base = *number;
  operand.has_base = true;
  return true;
}

}  // namespace jtrace::dtrace::aarch64
