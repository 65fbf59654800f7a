#include "dtrace/bpf_assembler.h"

#include <cstdint>
#include <limits>

namespace jtrace::dtrace {
namespace {

int size_code(int size) {
  switch (size) {
    case 1: return BPF_B;
    case 2: return BPF_H;
    case 4: return BPF_W;
    default: return BPF_DW;
  }
}

constexpr BpfRegister kNone = BpfRegister::kR0;

}  // namespace

void BpfAssembler::emit(int code, Reg to, Reg from, std::int16_t offset, std::int32_t value) {
  bpf_insn instruction{};
  instruction.code = static_cast<__u8>(code);
  instruction.dst_reg = static_cast<__u8>(to) & 15;
  instruction.src_reg = static_cast<__u8>(from) & 15;
  instruction.off = offset;
  instruction.imm = value;
  code_.push_back(instruction);
}

BpfAssembler::Label BpfAssembler::new_label() {
  places_.push_back(SIZE_MAX);
  return places_.size() - 1;
}
void BpfAssembler::place(Label label) { places_[label] = code_.size(); }

void BpfAssembler::move(Reg to, Reg from) { emit(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
void BpfAssembler::move(Reg to, std::int32_t value) { emit(BPF_ALU64 | BPF_MOV | BPF_K, to, kNone, 0, value); }

void BpfAssembler::wide(Reg to, int source, std::uint32_t low, std::uint32_t high) {
  emit(BPF_LD | BPF_DW | BPF_IMM, to, static_cast<Reg>(source), 0, static_cast<std::int32_t>(low));
  emit(0, kNone, kNone, 0, static_cast<std::int32_t>(high));
}
void BpfAssembler::load_immediate(Reg to, std::uint64_t value) {
  wide(to, 0, static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32));
}
void BpfAssembler::load_map(Reg to, int map_fd) { wide(to, BPF_PSEUDO_MAP_FD, static_cast<std::uint32_t>(map_fd), 0); }
void BpfAssembler::load_map_value(Reg to, int map_fd, std::uint32_t offset) {
  wide(to, BPF_PSEUDO_MAP_VALUE, static_cast<std::uint32_t>(map_fd), offset);
}

void BpfAssembler::add(Reg to, std::int32_t value) { emit(BPF_ALU64 | BPF_ADD | BPF_K, to, kNone, 0, value); }
void BpfAssembler::add(Reg to, Reg from) { emit(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0); }
void BpfAssembler::subtract(Reg to, Reg from) { emit(BPF_ALU64 | BPF_SUB | BPF_X, to, from, 0, 0); }
void BpfAssembler::bit_and(Reg to, std::int32_t value) { emit(BPF_ALU64 | BPF_AND | BPF_K, to, kNone, 0, value); }
void BpfAssembler::shift_left(Reg to, int bits) { emit(BPF_ALU64 | BPF_LSH | BPF_K, to, kNone, 0, bits); }
void BpfAssembler::shift_right(Reg to, int bits) { emit(BPF_ALU64 | BPF_RSH | BPF_K, to, kNone, 0, bits); }
void BpfAssembler::shift_right_signed(Reg to, int bits) { emit(BPF_ALU64 | BPF_ARSH | BPF_K, to, kNone, 0, bits); }

void BpfAssembler::load(int size, Reg to, Reg base, std::int16_t offset) {
  emit(BPF_LDX | BPF_MEM | size_code(size), to, base, offset, 0);
}
void BpfAssembler::store(int size, Reg base, std::int16_t offset, Reg from) {
  emit(BPF_STX | BPF_MEM | size_code(size), base, from, offset, 0);
}
void BpfAssembler::store(int size, Reg base, std::int16_t offset, std::int32_t value) {
  emit(BPF_ST | BPF_MEM | size_code(size), base, kNone, offset, value);
}
void BpfAssembler::atomic_add(Reg base, std::int16_t offset, Reg value) {
  emit(BPF_STX | BPF_ATOMIC | BPF_DW, base, value, offset, BPF_ADD);
}

void BpfAssembler::jump_if(int operation, Reg left, std::int32_t right, Label to) {
  jumps_.push_back({code_.size(), to, false});
  emit(BPF_JMP | operation | BPF_K, left, kNone, 0, right);
}
void BpfAssembler::jump_if(int operation, Reg left, Reg right, Label to) {
  jumps_.push_back({code_.size(), to, false});
  emit(BPF_JMP | operation | BPF_X, left, right, 0, 0);
}
void BpfAssembler::jump(Label to) {
  jumps_.push_back({code_.size(), to, false});
  emit(BPF_JMP | BPF_JA, kNone, kNone, 0, 0);
}
void BpfAssembler::call_helper(int number) { emit(BPF_JMP | BPF_CALL, kNone, kNone, 0, number); }
void BpfAssembler::call(Label function) {
  jumps_.push_back({code_.size(), function, true});
  emit(BPF_JMP | BPF_CALL, kNone, static_cast<Reg>(BPF_PSEUDO_CALL), 0, 0);
}
void BpfAssembler::exit() { emit(BPF_JMP | BPF_EXIT, kNone, kNone, 0, 0); }

Result<std::vector<bpf_insn>> BpfAssembler::finish() {
  for (const Jump& jump : jumps_) {
    const auto distance = static_cast<std::int64_t>(places_[jump.to]) - static_cast<std::int64_t>(jump.at) - 1;
    if (jump.is_call) {
      code_[jump.at].imm = static_cast<std::int32_t>(distance);
      continue;
    }
    if (distance > std::numeric_limits<std::int16_t>::max() || distance < std::numeric_limits<std::int16_t>::min())
      return fail(ErrorCategory::kRefused, "too many probe sites for one program", "choose fewer probes");
    code_[jump.at].off = static_cast<std::int16_t>(distance);
  }
  return code_;
}

}  // namespace jtrace::dtrace
