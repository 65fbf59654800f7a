// MethodCode: the parts of a method's Code attribute (JVMS 4.7.3). Views into the class file's bytes. Pure.
#pragma once

#include <vector>

#include "agent/classfile/bytecode.h"
#include "agent/classfile/class_file.h"

namespace jtrace::agent::classfile {

class MethodCode {
 public:
  struct Handler {
    std::uint16_t start, end, target, type;
  };

  // False if it is malformed.
  bool read(const ClassFile& klass, const Method& method);

  std::uint16_t max_stack() const { return max_stack_; }
  std::uint16_t max_locals() const { return max_locals_; }
  ByteView code() const { return code_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  std::vector<Instruction>& instructions() { return instructions_; }  // for code that moves them
  const std::vector<Handler>& handlers() const { return handlers_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  // Index of the instruction at `pc`, kNoInstruction if none starts there.
  std::uint32_t index_at(std::uint32_t pc) const { return pc < index_at_.size() ? index_at_[pc] : kNoInstruction; }
  // Calls visit(index) for each instruction to which `each` may jump. False: one of the targets is not an instruction.
  template <class Visit>
  bool for_each_target(const Instruction& each, Visit visit) const {
    if (is_short_jump(each.op) || is_wide_jump(each.op)) return visit(each.target), true;
    if (!is_switch(each.op)) return true;
    const std::size_t body = each.old_pc + 1 + (3 - each.old_pc % 4);
    const std::size_t end = each.old_pc + each.length;
    const std::size_t stride = each.op == kTableswitch ? 4 : 8;
    if (!visit_switch_target(each, body, visit)) return false;
    for (std::size_t at = body + 12; at < end; at += stride)
      if (!visit_switch_target(each, at, visit)) return false;
    return true;
  }
  // Whether the next instruction is reached only by jumps.
  static bool ends_flow(const Instruction& each) {
    return each.op == kGoto || each.op == kGotoW || is_switch(each.op) || is_return(each.op) || each.op == kAthrow;
  }

 private:
  template <class Visit>
  bool visit_switch_target(const Instruction& each, std::size_t at, Visit& visit) const {
    const std::int64_t pc = std::int64_t{each.old_pc} + s4_at(&code_[at]);
    if (pc < 0 || pc >= static_cast<std::int64_t>(code_.size())) return false;
    const std::uint32_t index = index_at_[static_cast<std::size_t>(pc)];
    if (index == kNoInstruction) return false;
    visit(index);
    return true;
  }

  std::uint16_t max_stack_ = 0;
  std::uint16_t max_locals_ = 0;
  ByteView code_;
  std::vector<Instruction> instructions_;
  std::vector<std::uint32_t> index_at_;
  std::vector<Handler> handlers_;
  std::vector<Attribute> attributes_;
};

}  // namespace jtrace::agent::classfile
