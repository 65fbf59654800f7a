// CodeRewriter: the places in the code of a method that callouts need: lines, new instructions and their constructors,
// the call of the superclass's constructor.
#include "agent/classfile/code_rewriter.h"
#include "agent/classfile/frame_forms.h"
#include "agent/classfile/frame_types.h"

namespace jtrace::agent::classfile {

void CodeRewriter::find_lines() {
  lines_.assign(instructions_.size(), 0);
  for (const Attribute& table : line_tables_) {
    Reader reader(klass_.bytes().first(table.data + table.size), table.data);
    const std::uint16_t entries = reader.u2();
    for (std::uint32_t i = 0; i < entries && !reader.failed(); ++i) {
      const std::uint16_t pc = reader.u2();
      const std::uint16_t line = reader.u2();
      if (pc < code_.size() && source_.index_at(pc) != kNoInstruction) lines_[source_.index_at(pc)] = line + 1u;
    }
  }
}

// 0 if it is not known.
std::uint32_t CodeRewriter::line_at(std::uint32_t instruction) const {
  for (std::uint32_t i = instruction + 1; i > 0; --i)
    if (lines_[i - 1] != 0) return lines_[i - 1] - 1;
  return 0;
}

// `new X; dup; arguments; invokespecial X.<init>`: finds the innermost new of that class that is not completed. Pairs
// that do not nest in this way get no callouts.
void CodeRewriter::find_news() {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& each = instructions_[i];
    if (each.op == kNew) {
      open.push_back(i);
      ++unseen_news_;
    }
    if (each.op != kInvokespecial || open.empty()) continue;
    const ClassFile::Reference callee = klass_.method_reference(u2_at(&code_[each.old_pc + 1]));
    if (callee.name != "<init>") continue;
    const std::uint32_t made = open.back();
    if (klass_.class_name(u2_at(&code_[instructions_[made].old_pc + 1])) != callee.owner) continue;
    open.pop_back();
    if (made + 1 >= instructions_.size() || instructions_[made + 1].op != kDup) continue;
    news_[i] = made;
    --unseen_news_;
  }
}

// The invokespecial by which a constructor calls another constructor of its class or superclass: the one that completes
// no new. None if that is ambiguous, or if the frames disagree.
void CodeRewriter::find_super_call() {
  super_call_ = kNoInstruction;
  if (!method_->is_constructor()) return;
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& each = instructions_[i];
    if (each.op == kNew) open.push_back(i);
    if (each.op != kInvokespecial) continue;
    const ClassFile::Reference callee = klass_.method_reference(u2_at(&code_[each.old_pc + 1]));
    if (callee.name != "<init>") continue;
    const bool completes =
        !open.empty() && klass_.class_name(u2_at(&code_[instructions_[open.back()].old_pc + 1])) == callee.owner;
    if (completes) {
      open.pop_back();
      continue;
    }
    const bool is_ours = callee.owner == klass_.name() || callee.owner == klass_.super_name();
    if (!open.empty() || !is_ours || super_call_ != kNoInstruction) {
      super_call_ = kNoInstruction;
      return;
    }
    super_call_ = i;
  }
  if (super_call_ != kNoInstruction && !frames_allow_split()) super_call_ = kNoInstruction;
}

// Whether it stores into local 0: a reference, or with `any` a number too.
bool CodeRewriter::overwrites_this(const Instruction& each, bool any) const {
  const bool is_wide = each.op == kWide;
  const std::uint8_t op = is_wide ? code_[each.old_pc + 1] : each.op;
  if (op >= (any ? kIstore : kAstore) && op <= kAstore)
    return is_wide ? u2_at(&code_[each.old_pc + 2]) == 0 : code_[each.old_pc + 1] == 0;
  // istore_0, lstore_0, fstore_0, dstore_0, astore_0
  return op >= (any ? kIstore0 : kAstore0) && op <= kAstore0 && (op - kIstore0) % 4 == 0;
}

// True if the frames agree: `this` is uninitialized before the super call and initialized after it. Before it nothing
// is stored into local 0, after it no reference.
bool CodeRewriter::frames_allow_split() const {
  const std::uint32_t split = instructions_[super_call_].old_pc;
  for (std::uint32_t i = 0; i < instructions_.size(); ++i)
    if (overwrites_this(instructions_[i], i < super_call_)) return false;
  if (stack_map_.start == 0) return true;
  Reader reader(klass_.bytes().first(stack_map_.data + stack_map_.size), stack_map_.data);
  const std::uint16_t count = reader.u2();
  std::int64_t pc = -1;
  bool uninitialized = true;
  const auto skip_type = [&] {
    const std::uint8_t tag = reader.u1();
    if (tag == kTypeObject || tag == kTypeUninitialized) reader.skip(2);
    return tag;
  };
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const std::uint8_t tag = reader.u1();
    pc += (has_own_distance(tag) ? own_distance(tag) : reader.u2()) + 1;
    for (unsigned k = has_one_item(tag) ? 1 : added_locals(tag); k > 0; --k) skip_type();
    if (tag == kFull) {
      const std::uint16_t locals = reader.u2();
      uninitialized = false;
      for (std::uint32_t k = 0; k < locals && !reader.failed(); ++k)
        if (skip_type() == kTypeUninitializedThis && k == 0) uninitialized = true;
      const std::uint16_t stack = reader.u2();
      for (std::uint32_t k = 0; k < stack && !reader.failed(); ++k) skip_type();
    }
    if (uninitialized != (pc <= split)) return false;
  }
  return !reader.failed();
}

}  // namespace jtrace::agent::classfile
