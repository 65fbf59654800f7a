#include "agent/classfile/code_rewriter.h"

#include <algorithm>
#include <utility>

#include "agent/classfile/frame_forms.h"
#include "agent/classfile/frame_types.h"

namespace jtrace::agent::classfile {
namespace {

constexpr std::uint32_t kMaxCode = 65535;  // JVMS 4.7.3: code_length is less than 65536

}  // namespace

// --- reading ---------------------------------------------------------------------------------------------------------

bool CodeRewriter::read(const Method& method) {
  method_ = &method;
  if (!source_.read(klass_, method)) return false;
  code_ = source_.code();
  return find_tables();
}

bool CodeRewriter::find_tables() {
  line_tables_.clear();
  local_tables_.clear();
  stack_map_ = {};
  for (const Attribute& attribute : source_.attributes()) {
    const bool is_lines = attribute.name == "LineNumberTable";
    const bool is_locals = attribute.name == "LocalVariableTable" || attribute.name == "LocalVariableTypeTable";
    if (is_lines || is_locals) {
      const std::size_t count = attribute.size < 2 ? 0 : u2_at(&klass_.bytes()[attribute.data]);
      if (attribute.size != 2 + count * (is_lines ? 4 : 10)) return false;
      (is_lines ? line_tables_ : local_tables_).push_back(attribute);
    } else if (attribute.name == "StackMapTable") {
      stack_map_ = attribute;
    }
    // Other attributes (type annotations, tables of old compilers) do not matter to the JVM and are dropped, because
    // their places would be wrong.
  }
  return true;
}

// --- layout ----------------------------------------------------------------------------------------------------------

std::uint32_t CodeRewriter::new_length(const Instruction& each) const {
  if (each.widened) return 5;
  if (!is_switch(each.op)) return each.length;
  return each.length - (3 - each.old_pc % 4) + (3 - each.place % 4);
}

Outcome CodeRewriter::lay_out() {
  for (bool changed = true; changed;) {
    auto place = static_cast<std::uint32_t>(prologue_.size());
    for (Instruction& each : instructions_) {
      each.label = place;
      each.place = place + each.before_size;
      place = each.place + new_length(each) + each.after_size;
    }
    code_end_ = place;
    changed = false;
    for (Instruction& each : instructions_) {
      if (!is_short_jump(each.op) || each.widened) continue;
      const std::int64_t distance = std::int64_t{instructions_[each.target].label} - each.place;
      if (distance == static_cast<std::int16_t>(distance)) continue;
      if (each.op != kGoto && each.op != kJsr) return Outcome::kJumpTooFar;
      each.widened = true;
      changed = true;
    }
  }
  return code_end_ + handlers_size() > kMaxCode ? Outcome::kTooLarge : Outcome::kRewritten;
}

// --- writing ---------------------------------------------------------------------------------------------------------

Outcome CodeRewriter::rewrite(const Method& method, std::uint32_t number, std::uint32_t wanted, Bytes& out) {
  if (!read(method)) return Outcome::kMalformed;
  plan_callouts(number, wanted);
  if (const Outcome outcome = lay_out(); outcome != Outcome::kRewritten) return outcome;

  const std::size_t start = out.size();
  put_bytes(out, &klass_.bytes()[method.code.start], 2);  // the name
  put4(out, 0);
  const std::uint32_t most_stack =
      source_.max_stack() + extra_stack_ + ((wanted & (kCalloutThrow | kCalloutCatch)) != 0 ? 1u : 0u);
  put2(out, most_stack > 0xffff ? 0xffff : most_stack);
  put2(out, source_.max_locals());
  put4(out, code_end_ + handlers_size());
  write_code(out);
  write_exception_table(out);

  const std::size_t attributes_at = out.size();
  put2(out, 0);
  unsigned attributes = 0;
  for (const Attribute& table : line_tables_) {
    write_lines(out, table);
    ++attributes;
  }
  for (const Attribute& table : local_tables_) {
    write_locals(out, table);
    ++attributes;
  }
  if (stack_map_.start != 0 || (guards_ && klass_.major() >= kFirstWithFrames)) {
    if (!write_stack_map(out)) {
      out.resize(start);
      return Outcome::kMalformed;
    }
    ++attributes;
  }
  set2(out, attributes_at, attributes);
  set4(out, start + 2, static_cast<std::uint32_t>(out.size() - start - 6));
  return Outcome::kRewritten;
}

// Runs of instructions that have no callouts and do not jump are copied together.
void CodeRewriter::write_code(Bytes& out) const {
  put_bytes(out, prologue_.data(), prologue_.size());
  std::size_t copied = 0;  // the original code is written up to here
  const auto copy_to = [&](std::size_t pc) {
    put_bytes(out, code_.data() + copied, pc - copied);
    copied = pc;
  };
  for (const Instruction& each : instructions_) {
    if (each.before_size != 0) {
      copy_to(each.old_pc);
      put_bytes(out, callouts_.data() + each.before, each.before_size);
    }
    if (has_distance(each.op)) {
      copy_to(each.old_pc);
      write_jump(out, each);
      copied = each.old_pc + each.length;
    }
    if (each.after_size != 0) {
      copy_to(each.old_pc + each.length);
      put_bytes(out, callouts_.data() + each.after, each.after_size);
    }
  }
  copy_to(code_.size());
  put_bytes(out, epilogue_.data(), epilogue_.size());
  if (splits_) put_bytes(out, epilogue_.data(), epilogue_.size());
}

void CodeRewriter::write_jump(Bytes& out, const Instruction& each) const {
  if (is_switch(each.op)) return write_switch(out, each);
  const std::uint32_t distance = instructions_[each.target].label - each.place;
  if (is_short_jump(each.op) && !each.widened) {
    put1(out, each.op);
    put2(out, distance & 0xffff);
    return;
  }
  put1(out, each.op + (each.op == kGoto ? kGotoW - kGoto : each.op == kJsr ? kJsrW - kJsr : 0u));
  put4(out, distance);
}

// The default and the targets are relative to the instruction. An invalid target becomes a jump to the instruction
// itself, which the JVM's own check refuses as it would have refused the original.
void CodeRewriter::write_switch(Bytes& out, const Instruction& each) const {
  const auto target = [&](std::size_t at) {
    const std::int64_t old_target = std::int64_t{each.old_pc} + s4_at(&code_[at]);
    const bool valid = old_target >= 0 && old_target < static_cast<std::int64_t>(code_.size()) &&
                       source_.index_at(static_cast<std::uint32_t>(old_target)) != kNoInstruction;
    const std::uint32_t index = valid ? source_.index_at(static_cast<std::uint32_t>(old_target)) : 0;
    put4(out, instructions_[index].label - each.place);
  };
  put1(out, each.op);
  for (std::uint32_t k = 3 - each.place % 4; k > 0; --k) put1(out, 0);
  const std::size_t body = each.old_pc + 1 + (3 - each.old_pc % 4);
  const std::size_t end = each.old_pc + each.length;
  target(body);
  if (each.op == kTableswitch) {
    put_bytes(out, &code_[body + 4], 8);
    for (std::size_t at = body + 12; at < end; at += 4) target(at);
    return;
  }
  put_bytes(out, &code_[body + 4], 4);
  for (std::size_t at = body + 8; at < end; at += 8) {
    put_bytes(out, &code_[at], 4);
    target(at + 4);
  }
}

// One entry for each stretch of code between an exit's callout and its return: an exception there is no exit by
// exception.
void CodeRewriter::cover(std::uint32_t from, std::uint32_t to, std::uint32_t handler, Bytes& out) const {
  if (from >= to) return;
  put2(out, from);
  put2(out, to);
  put2(out, handler);
  put2(out, 0);
}

void CodeRewriter::write_exception_table(Bytes& out) const {
  const std::size_t count_at = out.size();
  put2(out, 0);
  for (const std::uint32_t each : restarts_) {  // these come first, because the first entry that covers a place counts
    put2(out, instructions_[each].label);
    put2(out, instructions_[each].place);
    put2(out, instructions_[each].place);
    put2(out, 0);
  }
  for (const MethodCode::Handler& handler : handlers_) {
    put2(out, instructions_[source_.index_at(handler.start)].label);
    put2(out, handler.end == code_.size() ? code_end_ : instructions_[source_.index_at(handler.end)].label);
    put2(out, instructions_[source_.index_at(handler.target)].label);
    put2(out, handler.type);
  }
  auto from = static_cast<std::uint32_t>(prologue_.size());
  if (guards_) {
    if (splits_) {
      const Instruction& call = instructions_[super_call_];
      cover(from, call.place, code_end_ + static_cast<std::uint32_t>(epilogue_.size()), out);
      from = call.place + call.length;
    }
    for (const Instruction& each : instructions_) {
      if (each.exit_size == 0 || each.place < from) continue;
      cover(from, each.place - each.exit_size, code_end_, out);
      from = each.place + new_length(each);
    }
    cover(from, code_end_, code_end_, out);
  }
  set2(out, count_at, static_cast<unsigned>((out.size() - count_at - 2) / 8));
}

}  // namespace jtrace::agent::classfile
