#include "agent/classfile/frame_writer.h"

#include <algorithm>

#include "agent/classfile/bytecode.h"
#include "agent/classfile/frame_forms.h"

namespace jtrace::agent::classfile {

bool FrameWriter::write(const Method& method, const MethodCode& code, Bytes& out) {
  if (!flow_.run(method, code)) return false;
  find_dead_code(code);
  find_places(code);
  const std::size_t start = out.size();
  put_bytes(out, &klass_.bytes()[method.code.start], 2);  // the name
  put4(out, 0);
  put2(out, std::max<unsigned>(code.max_stack(), dead_.empty() ? 0u : 1u));
  put2(out, code.max_locals());
  write_code(code, out);
  write_handlers(code, out);
  const std::size_t attributes_at = out.size();
  put2(out, 0);
  unsigned attributes = 0;
  for (const Attribute& each : code.attributes()) {
    if (each.name == "StackMapTable") continue;
    put_bytes(out, &klass_.bytes()[each.start], each.data + each.size - each.start);
    ++attributes;
  }
  if (std::find(places_.begin(), places_.end(), true) != places_.end()) {
    if (!write_table(code, out)) {
      out.resize(start);
      return false;
    }
    ++attributes;
  }
  set2(out, attributes_at, attributes);
  set4(out, start + 2, static_cast<std::uint32_t>(out.size() - start - 6));
  return true;
}

void FrameWriter::find_dead_code(const MethodCode& code) {
  dead_.clear();
  for (std::uint32_t i = 0; i < code.instructions().size(); ++i) {
    const Instruction& each = code.instructions()[i];
    if (flow_.is_reached(i)) continue;
    if (!dead_.empty() && dead_.back().end == each.old_pc) dead_.back().end += each.length;
    else dead_.push_back({each.old_pc, each.old_pc + each.length});
  }
}

void FrameWriter::find_places(const MethodCode& code) {
  const std::vector<Instruction>& all = code.instructions();
  places_.assign(all.size(), false);
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (flow_.is_reached(i)) code.for_each_target(all[i], [&](std::uint32_t target) { places_[target] = true; });
  for (const MethodCode::Handler& handler : code.handlers())
    if (const std::uint32_t target = code.index_at(handler.target); flow_.is_reached(target)) places_[target] = true;
  for (const Run& run : dead_) places_[code.index_at(run.start)] = true;
}

void FrameWriter::write_code(const MethodCode& code, Bytes& out) const {
  put4(out, static_cast<std::uint32_t>(code.code().size()));
  const std::size_t start = out.size();
  put_bytes(out, code.code().data(), code.code().size());
  for (const Run& run : dead_) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(start + run.start),
              out.begin() + static_cast<std::ptrdiff_t>(start + run.end), kNop);
    out[start + run.end - 1] = kAthrow;
  }
}

void FrameWriter::write_handlers(const MethodCode& code, Bytes& out) const {
  const std::size_t count_at = out.size();
  put2(out, 0);
  const auto write = [&](const MethodCode::Handler& handler, std::uint32_t from, std::uint32_t to) {
    if (from >= to) return;
    put2(out, from);
    put2(out, to);
    put2(out, handler.target);
    put2(out, handler.type);
  };
  for (const MethodCode::Handler& handler : code.handlers()) {
    std::uint32_t from = handler.start;
    for (const Run& run : dead_) {
      if (run.end <= from || run.start >= handler.end) continue;
      write(handler, from, run.start);
      from = run.end;
    }
    write(handler, from, handler.end);
  }
  set2(out, count_at, static_cast<unsigned>((out.size() - count_at - 2) / 8));
}

bool FrameWriter::write_table(const MethodCode& code, Bytes& out) {
  if (table_name_ == 0) table_name_ = pool_.utf8("StackMapTable");
  TypeFlow::Frame dead;
  dead.stack.push_back(types_.object("java/lang/Throwable"));
  const std::size_t start = out.size();
  put2(out, table_name_);
  put4(out, 0);
  put2(out, 0);
  std::uint32_t count = 0;
  std::uint32_t next = 0;  // the lowest pc that the next frame can have
  const TypeFlow::Frame* last = &flow_.start();
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    if (!places_[i]) continue;
    const TypeFlow::Frame* frame = flow_.is_reached(i) ? flow_.frame_at(i) : &dead;
    if (frame == nullptr) return false;
    const std::uint32_t pc = code.instructions()[i].old_pc;
    write_frame(*frame, pc - next, frame->locals == last->locals, out);
    next = pc + 1;
    last = frame;
    ++count;
  }
  if (count > 0xffff) return false;
  set2(out, start + 6, count);
  set4(out, start + 2, static_cast<std::uint32_t>(out.size() - start - 6));
  return true;
}

void FrameWriter::write_frame(const TypeFlow::Frame& frame, std::uint32_t delta, bool same_locals, Bytes& out) {
  const bool has_item = frame.stack.size() == 1 || (frame.stack.size() == 2 && frame.stack[1] == kTypeSecond);
  if (!same_locals || (!has_item && !frame.stack.empty())) {
    put1(out, kFull);
    put2(out, delta);
    write_types(frame.locals, out);
    write_types(frame.stack, out);
    return;
  }
  put_same_frame(out, delta, has_item);
  if (has_item) write_type(frame.stack[0], out);
}

void FrameWriter::write_types(const std::vector<Type>& types, Bytes& out) {
  put2(out, static_cast<unsigned>(types.size()) -
                static_cast<unsigned>(std::count(types.begin(), types.end(), Type{kTypeSecond})));
  for (const Type each : types)
    if (each != kTypeSecond) write_type(each, out);
}

void FrameWriter::write_type(Type type, Bytes& out) {
  put1(out, tag_of(type));
  if (tag_of(type) == kTypeObject) put2(out, types_.constant_of(type));
  if (tag_of(type) == kTypeUninitialized) put2(out, payload_of(type));
}

}  // namespace jtrace::agent::classfile
