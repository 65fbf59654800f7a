// CodeRewriter: the tables of a Code attribute that contain code positions (StackMapTable, lines, locals), adapted to
// the code with callouts.
#include "agent/classfile/code_rewriter.h"
#include "agent/classfile/frame_forms.h"
#include "agent/classfile/frame_types.h"

namespace jtrace::agent::classfile {
namespace {

// After the callouts of a handler its frame is repeated; `item` is the type of the exception in the frame just written.
void repeat_frame(const Instruction& handler, std::size_t item, Bytes& out) {
  const Bytes type(out.begin() + static_cast<std::ptrdiff_t>(item), out.end());
  put_same_frame(out, handler.before_size - 1, true);
  put_bytes(out, type.data(), type.size());
}

}  // namespace

bool CodeRewriter::copy_type(Reader& reader, Bytes& out) const {
  const std::uint8_t tag = reader.u1();
  put1(out, tag);
  if (tag == kTypeObject) put2(out, reader.u2());
  if (tag != kTypeUninitialized) return tag <= kTypeUninitialized;
  const std::uint16_t pc = reader.u2();
  if (pc >= code_.size() || source_.index_at(pc) == kNoInstruction) return false;
  put2(out, instructions_[source_.index_at(pc)].place);
  return true;
}

// Frames keep their form; only the distance to the previous frame changes. `count` is first the number read, then the
// number written.
bool CodeRewriter::copy_frames(Reader& reader, std::uint32_t& count, std::int64_t& last, Bytes& out) const {
  std::int64_t old_pc = -1;
  for (std::uint32_t left = count; left > 0; --left) {
    const std::uint8_t tag = reader.u1();
    if (!is_valid_form(tag)) return false;
    old_pc += (has_own_distance(tag) ? own_distance(tag) : reader.u2()) + 1;
    if (reader.failed() || old_pc >= static_cast<std::int64_t>(code_.size())) return false;
    const std::uint32_t index = source_.index_at(static_cast<std::uint32_t>(old_pc));
    if (index == kNoInstruction) return false;
    const std::int64_t delta = std::int64_t{instructions_[index].label} - last - 1;
    last = instructions_[index].label;
    std::size_t item = 0;  // offset of the type on top of the stack
    if (!copy_frame(reader, tag, static_cast<std::uint32_t>(delta), item, out)) return false;
    if (!is_restart(index)) continue;
    if (item == 0) return false;  // not the frame of a handler
    repeat_frame(instructions_[index], item, out);
    last = instructions_[index].place;
    ++count;
  }
  return !reader.failed();
}

bool CodeRewriter::copy_frame(Reader& reader, std::uint8_t tag, std::uint32_t delta, std::size_t& item,
                              Bytes& out) const {
  const bool has_item = has_one_item(tag);
  if (has_own_distance(tag) || has_item || tag == kSameFar) {
    put_same_frame(out, delta, has_item);
    item = has_item ? out.size() : 0;
    return !has_item || copy_type(reader, out);
  }
  put1(out, tag);
  put2(out, delta);
  std::uint32_t types = added_locals(tag);
  for (int part = tag == kFull ? 2 : 1; part > 0; --part) {
    if (tag == kFull) {
      types = reader.u2();
      put2(out, types);
    }
    item = 0;
    for (; types > 0; --types) {
      item = tag == kFull ? out.size() : 0;
      if (!copy_type(reader, out) || reader.failed()) return false;
    }
  }
  return true;
}

// Their code needs no local; in the second one `this` has to be said to be uninitialized.
void CodeRewriter::write_handler_frames(std::int64_t last, Bytes& out) const {
  const auto begin = [&](std::size_t delta, unsigned locals) {
    put1(out, kFull);
    put2(out, static_cast<unsigned>(delta));
    put2(out, locals);
  };
  const auto end = [&] {
    put2(out, 1);  // on the stack
    put1(out, kTypeObject);
    put2(out, constants_.throwable);
  };
  begin(static_cast<std::size_t>(code_end_ - last - 1), 0);
  end();
  if (!splits_) return;
  begin(epilogue_.size() - 1, 1);
  put1(out, kTypeUninitializedThis);
  end();
}

bool CodeRewriter::write_stack_map(Bytes& out) const {
  const std::size_t start = out.size();
  if (stack_map_.start != 0) put_bytes(out, &klass_.bytes()[stack_map_.start], 2);
  else put2(out, constants_.stack_map_table);
  put4(out, 0);
  put2(out, 0);
  std::int64_t last = -1;
  std::uint32_t count = 0;
  if (stack_map_.start != 0) {
    Reader reader(klass_.bytes().first(stack_map_.data + stack_map_.size), stack_map_.data);
    count = reader.u2();
    if (!copy_frames(reader, count, last, out)) return false;
  }
  if (guards_ && klass_.major() >= kFirstWithFrames) {
    write_handler_frames(last, out);
    count += splits_ ? 2 : 1;
  }
  if (count > 0xffff) return false;
  set2(out, start + 6, count);
  set4(out, start + 2, static_cast<std::uint32_t>(out.size() - start - 6));
  return true;
}

// The new position of a pc in a table (lines, locals): before the callouts; at the start of the method, before the
// prologue as well.
std::uint32_t CodeRewriter::table_pc(std::uint32_t old_pc) const {
  if (old_pc == 0) return 0;
  if (old_pc >= code_.size()) return code_end_;
  for (std::uint32_t pc = old_pc;; --pc)  // a pc inside an instruction counts as its start
    if (source_.index_at(pc) != kNoInstruction) return instructions_[source_.index_at(pc)].label;
}

void CodeRewriter::write_lines(Bytes& out, const Attribute& table) const {
  put_bytes(out, &klass_.bytes()[table.start], 6);
  Reader reader(klass_.bytes().first(table.data + table.size), table.data);
  const std::size_t end = table.data + table.size;
  std::size_t left = reader.u2();
  put2(out, static_cast<unsigned>(left));
  for (; left > 0 && end - reader.position() >= 4; --left) {
    put2(out, table_pc(reader.u2()));
    put2(out, reader.u2());
  }
  put_bytes(out, &klass_.bytes()[reader.position()], end - reader.position());
}

void CodeRewriter::write_locals(Bytes& out, const Attribute& table) const {
  put_bytes(out, &klass_.bytes()[table.start], 6);
  Reader reader(klass_.bytes().first(table.data + table.size), table.data);
  const std::size_t end = table.data + table.size;
  std::size_t left = reader.u2();
  put2(out, static_cast<unsigned>(left));
  for (; left > 0 && end - reader.position() >= 10; --left) {
    const std::uint16_t start = reader.u2();
    const std::uint16_t length = reader.u2();
    const std::uint32_t new_start = table_pc(start);
    put2(out, new_start);
    put2(out, table_pc(std::uint32_t{start} + length) - new_start);
    put2(out, reader.u2());
    put2(out, reader.u2());
    put2(out, reader.u2());
  }
  put_bytes(out, &klass_.bytes()[reader.position()], end - reader.position());
}

}  // namespace jtrace::agent::classfile
