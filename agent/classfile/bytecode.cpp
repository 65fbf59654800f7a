#include "agent/classfile/bytecode.h"

namespace jtrace::agent::classfile {
namespace {

// Length of each instruction, opcodes 0 to 201; 0: depends on the operands, 255: no such instruction.
// clang-format off
constexpr std::uint8_t kLengths[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 0: nop, constants
    2, 3, 2, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1,  // 16: bipush, sipush, ldc, loads
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 32
    1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1,  // 48: loads, stores
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 64
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 80: stores, stack
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 96: arithmetic
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 112
    1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  // 128: iinc (132), conversions
    1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3,  // 144: comparisons (148 to 152), ifs (153 on)
    3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 0, 1, 1, 1, 1,  // 160: goto, jsr, ret, switches, returns
    1, 1, 3, 3, 3, 3, 3, 3, 3, 5, 5, 3, 2, 3, 1, 1,  // 176: fields, calls, new, newarray, anewarray, athrow
    3, 3, 1, 1, 0, 4, 3, 3, 5, 5, 255, 255, 255, 255, 255, 255,  // 192: checkcast, instanceof, monitors, wide, multianewarray, goto_w
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
};
// clang-format on

// 0: malformed
std::uint32_t length_at(ByteView code, std::uint32_t pc) {
  const std::uint8_t length = kLengths[code[pc]];
  if (length == 255) return 0;
  if (length != 0) return length;
  if (code[pc] == kWide) return pc + 1 < code.size() && code[pc + 1] == 132 ? 6 : 4;
  const std::uint32_t padding = 3 - pc % 4;
  const std::uint64_t body = std::uint64_t{pc} + 1 + padding;
  if (body + 8 > code.size()) return 0;
  if (code[pc] == kTableswitch) {
    if (body + 12 > code.size()) return 0;
    const std::int64_t low = s4_at(&code[body + 4]);
    const std::int64_t high = s4_at(&code[body + 8]);
    if (high < low || high - low > 0xffff) return 0;
    return static_cast<std::uint32_t>(1 + padding + 12 + 4 * (high - low + 1));
  }
  const std::int64_t pairs = s4_at(&code[body + 4]);
  if (pairs < 0 || pairs > 0xffff) return 0;
  return static_cast<std::uint32_t>(1 + padding + 8 + 8 * pairs);
}

bool resolve_jump(ByteView code, Instruction& each, const std::vector<std::uint32_t>& index_at) {
  std::int64_t target = each.old_pc;
  if (is_short_jump(each.op)) target += static_cast<std::int16_t>(u2_at(&code[each.old_pc + 1]));
  else if (is_wide_jump(each.op)) target += s4_at(&code[each.old_pc + 1]);
  else return true;
  if (target < 0 || target >= static_cast<std::int64_t>(code.size())) return false;
  each.target = index_at[static_cast<std::size_t>(target)];
  return each.target != kNoInstruction;
}

}  // namespace

bool decode(ByteView code, std::vector<Instruction>& instructions, std::vector<std::uint32_t>& index_at) {
  instructions.clear();
  if (code.empty() || code.size() > 0xffff) return false;
  index_at.assign(code.size() + 1, kNoInstruction);
  for (std::uint32_t pc = 0; pc < code.size();) {
    const std::uint32_t length = length_at(code, pc);
    if (length == 0 || code.size() - pc < length) return false;
    index_at[pc] = static_cast<std::uint32_t>(instructions.size());
    Instruction& made = instructions.emplace_back();
    made.old_pc = pc;
    made.length = length;
    made.op = code[pc];
    pc += length;
  }
  index_at[code.size()] = static_cast<std::uint32_t>(instructions.size());
  for (Instruction& each : instructions)
    if (!resolve_jump(code, each, index_at)) return false;
  return true;
}

}  // namespace jtrace::agent::classfile
