// BpfAssembler: eBPF instructions with labels (linux/bpf.h, instruction-set.rst). Pure. One thread.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace jtrace::dtrace {

enum class BpfRegister : std::uint8_t { kR0, kR1, kR2, kR3, kR4, kR5, kR6, kR7, kR8, kR9, kFrame };

class BpfAssembler {
 public:
  using Label = std::size_t;
  using Reg = BpfRegister;

  Label new_label();
  void place(Label label);  // at the current position

  void move(Reg to, Reg from);
  void move(Reg to, std::int32_t value);             // sign-extended
  void load_immediate(Reg to, std::uint64_t value);  // two slots
  void load_map(Reg to, int map_fd);
  // The address of byte `offset` of the only element of an array map.
  void load_map_value(Reg to, int map_fd, std::uint32_t offset);
  void add(Reg to, std::int32_t value);
  void add(Reg to, Reg from);
  void subtract(Reg to, Reg from);
  void bit_and(Reg to, std::int32_t value);
  void shift_left(Reg to, int bits);
  void shift_right(Reg to, int bits);  // with zeros
  void shift_right_signed(Reg to, int bits);
  // size: 1, 2, 4, 8
  void load(int size, Reg to, Reg base, std::int16_t offset);
  void store(int size, Reg base, std::int16_t offset, Reg from);
  void store(int size, Reg base, std::int16_t offset, std::int32_t value);
  void atomic_add(Reg base, std::int16_t offset, Reg value);  // 64 bits
  // operation: BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JGE, BPF_JLT... (unsigned)
  void jump_if(int operation, Reg left, std::int32_t right, Label to);
  void jump_if(int operation, Reg left, Reg right, Label to);
  void jump(Label to);
  void call_helper(int number);
  void call(Label function);
  void exit();

  std::size_t size() const { return code_.size(); }
  // Errors: kRefused: a jump further than 16 bits reach.
  Result<std::vector<bpf_insn>> finish();

 private:
  void emit(int code, Reg to, Reg from, std::int16_t offset, std::int32_t value);
  void wide(Reg to, int source, std::uint32_t low, std::uint32_t high);
  struct Jump {
    std::size_t at;
    Label to;
    bool is_call;
  };
  std::vector<bpf_insn> code_;
  std::vector<std::size_t> places_;
  std::vector<Jump> jumps_;
};

}  // namespace jtrace::dtrace
