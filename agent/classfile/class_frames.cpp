#include "agent/classfile/class_frames.h"

#include <vector>

#include "agent/classfile/class_assembly.h"
#include "agent/classfile/frame_forms.h"
#include "agent/classfile/frame_writer.h"

namespace jtrace::agent::classfile {
namespace {

// Sets, for each instruction, whether the JVM needs a frame there. False if the code is invalid.
bool find_needed(const MethodCode& code, std::vector<bool>& needed) {
  const std::vector<Instruction>& all = code.instructions();
  needed.assign(all.size(), false);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!code.for_each_target(all[i], [&](std::uint32_t target) { needed[target] = true; })) return false;
    if (MethodCode::ends_flow(all[i]) && i + 1 < all.size()) needed[i + 1] = true;
  }
  for (const MethodCode::Handler& handler : code.handlers()) needed[code.index_at(handler.target)] = true;
  return true;
}

// Reads a table; removes the places of its frames from `needed`.
class TableCheck {
 public:
  TableCheck(const ClassFile& klass, const MethodCode& code, const Attribute& table)
      : code_(code), reader_(klass.bytes().first(table.data + table.size), table.data) {}

  bool fits(std::vector<bool>& needed) {
    std::uint32_t pc = 0;
    for (std::uint32_t left = reader_.u2(); left > 0 && !reader_.failed(); --left) {
      if (!read_frame(pc)) return false;
      const std::uint32_t index = code_.index_at(pc);
      if (index >= needed.size()) return false;
      needed[index] = false;
      ++pc;
    }
    return !reader_.failed();
  }

 private:
  bool read_frame(std::uint32_t& pc) {
    const std::uint8_t form = reader_.u1();
    if (!is_valid_form(form)) return false;
    pc += has_own_distance(form) ? own_distance(form) : reader_.u2();
    if (form == kFull) return read_types(reader_.u2()) && read_types(reader_.u2());
    return read_types(has_one_item(form) ? 1 : added_locals(form));
  }
  bool read_types(std::uint32_t count) {
    for (; count > 0 && !reader_.failed(); --count) {
      const std::uint8_t tag = reader_.u1();
      if (tag > kTypeUninitialized) return false;
      if (tag == kTypeObject) reader_.skip(2);
      if (tag != kTypeUninitialized) continue;
      const std::uint32_t made = code_.index_at(reader_.u2());
      if (made >= code_.instructions().size() || code_.instructions()[made].op != kNew) return false;
    }
    return !reader_.failed();
  }

  const MethodCode& code_;
  Reader reader_;
};

bool frames_fit(const ClassFile& klass, const MethodCode& code, std::vector<bool>& needed) {
  for (const Attribute& each : code.attributes())
    if (each.name == "StackMapTable" && !TableCheck(klass, code, each).fits(needed)) return false;
  for (const bool each : needed)
    if (each) return false;
  return true;
}

}  // namespace

bool complete_frames(const ClassFile& klass, ClassHierarchy& hierarchy, FrameReport& report, Bytes& out) {
  report = {};
  if (klass.major() < kFirstThatNeedsFrames) return false;
  ConstantPool pool(klass.constant_count());
  FrameTypes types(klass, hierarchy, pool);
  FrameWriter writer(klass, types, pool);
  ClassAssembly assembly(klass);
  MethodCode code;
  std::vector<bool> needed;
  Bytes written;
  for (const Method& method : klass.methods()) {
    written.clear();
    if (method.has_code()) {
      if (!code.read(klass, method) || !find_needed(code, needed)) ++report.left;
      else if (!frames_fit(klass, code, needed) && !writer.write(method, code, written)) ++report.left;
    }
    if (written.empty()) {
      assembly.add(method);
      continue;
    }
    ++report.completed;
    assembly.add(method, written);
  }
  report.guesses = types.guesses();
  if (report.completed == 0 || pool.full()) return false;
  assembly.finish(pool, out);
  return true;
}

}  // namespace jtrace::agent::classfile
