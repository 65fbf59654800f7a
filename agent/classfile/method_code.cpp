#include "agent/classfile/method_code.h"

namespace jtrace::agent::classfile {

bool MethodCode::read(const ClassFile& klass, const Method& method) {
  handlers_.clear();
  attributes_.clear();
  Reader reader(klass.bytes().first(method.code.data + method.code.size), method.code.data);
  max_stack_ = reader.u2();
  max_locals_ = reader.u2();
  const std::uint32_t length = reader.u4();
  if (reader.failed() || length > reader.remaining()) return false;
  code_ = klass.bytes().subspan(reader.position(), length);
  reader.skip(length);
  if (!decode(code_, instructions_, index_at_)) return false;
  const std::uint16_t handlers = reader.u2();
  for (std::uint32_t i = 0; i < handlers && !reader.failed(); ++i) {
    Handler made{};
    made.start = reader.u2();
    made.end = reader.u2();
    made.target = reader.u2();
    made.type = reader.u2();
    if (made.start >= made.end || made.target >= code_.size()) return false;
    for (const std::uint16_t pc : {made.start, made.end, made.target})
      if (index_at(pc) == kNoInstruction) return false;
    handlers_.push_back(made);
  }
  const std::uint16_t attributes = reader.u2();
  for (std::uint32_t i = 0; i < attributes && !reader.failed(); ++i)
    attributes_.push_back(klass.read_attribute(reader));
  return !reader.failed();
}

}  // namespace jtrace::agent::classfile
