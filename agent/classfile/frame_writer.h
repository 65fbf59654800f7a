// FrameWriter: writes the Code attribute of a method with a StackMapTable of the types that TypeFlow has found.
#pragma once

#include <vector>

#include "agent/classfile/type_flow.h"

namespace jtrace::agent::classfile {

class FrameWriter {
 public:
  FrameWriter(const ClassFile& klass, FrameTypes& types, ConstantPool& pool)
      : klass_(klass), types_(types), pool_(pool), flow_(klass, types) {}

  // Appends the attribute to `out`, header included. False: its code cannot be followed, and nothing was appended.
  bool write(const Method& method, const MethodCode& code, Bytes& out);

 private:
  struct Run {
    std::uint32_t start, end;  // pcs
  };

  void find_dead_code(const MethodCode& code);
  void find_places(const MethodCode& code);
  void write_code(const MethodCode& code, Bytes& out) const;
  void write_handlers(const MethodCode& code, Bytes& out) const;
  bool write_table(const MethodCode& code, Bytes& out);
  void write_frame(const TypeFlow::Frame& frame, std::uint32_t delta, bool same_locals, Bytes& out);
  void write_types(const std::vector<Type>& types, Bytes& out);
  void write_type(Type type, Bytes& out);

  const ClassFile& klass_;
  FrameTypes& types_;
  ConstantPool& pool_;
  TypeFlow flow_;
  std::uint16_t table_name_ = 0;  // constant "StackMapTable", 0: not made yet
  std::vector<Run> dead_;
  std::vector<bool> places_;  // by instruction: a frame is needed there
};

}  // namespace jtrace::agent::classfile
