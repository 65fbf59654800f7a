// As gcc and clang print operands for x86-64 (AT&T syntax): "%rax", "$7", "8(%rax,%r12,4)".
#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "dtrace/operand_text.h"
#include "target/isa_x86_64.h"

namespace jtrace::dtrace::x86_64 {
namespace {

namespace words = target::x86_64;

// In the numbering of the machine's instructions (AMD64 ABI, figure 3.36 has another one): the first four have names
// for their second byte, the last eight are numbers.
constexpr std::size_t kCount = 16;
constexpr std::string_view kNames[kCount] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                             "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

constexpr words::Word kWords[kCount] = {words::kRax, words::kRcx, words::kRdx, words::kRbx, words::kRsp, words::kRbp,
                                        words::kRsi, words::kRdi, words::kR8,  words::kR9,  words::kR10, words::kR11,
                                        words::kR12, words::kR13, words::kR14, words::kR15};

struct RegisterPart {
  Register number;
  std::uint8_t shift = 0;
};

// "rax", "eax", "ax", "al", "ah", "sil", "r8", "r8d", "r8w", "r8b".
std::optional<RegisterPart> register_of(std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string_view full = kNames[i];
    const auto number = static_cast<Register>(kWords[i]);
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

std::optional<Register> full_register(std::string_view text) {
  if (!text.starts_with('%')) return std::nullopt;
  // An address consists of 64-bit registers.
  const auto* const name = std::find(std::begin(kNames), std::end(kNames), text.substr(1));
  if (name == std::end(kNames)) return std::nullopt;
  return static_cast<Register>(kWords[name - kNames]);
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

}  // namespace

bool parse_place(std::string_view text, Operand& operand) {
  if (text.front() == '$') {
    const auto value = number_of(text.substr(1));
    if (!value) return false;
    operand.kind = OperandKind::kImmediate;
    operand.displacement = *value;
    return true;
  }
  if (text.front() != '%') return parse_memory(text, operand);
  const auto part = register_of(text.substr(1));
  if (!part) return false;
  operand.kind = OperandKind::kRegister;
  operand.base = part->number;
  operand.has_base = true;
  operand.shift = part->shift;
  return true;
}

}  // namespace jtrace::dtrace::x86_64
