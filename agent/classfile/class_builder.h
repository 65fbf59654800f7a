// ClassBuilder: makes a new class file: constants, fields, methods with given code. Version 49 (JDK 5): verified by
// inference, so its methods need no frames. Pure.
#pragma once

#include <string_view>

#include "agent/classfile/bytecode.h"
#include "agent/classfile/constant_pool.h"

namespace jtrace::agent::classfile {

// The code of one method, appended instruction by instruction.
class CodeBuilder {
 public:
  explicit CodeBuilder(ConstantPool& pool) : pool_(pool) {}

  void op(unsigned opcode) { put1(code_, opcode); }
  void op1(unsigned opcode, unsigned operand) {
    put1(code_, opcode);
    put1(code_, operand);
  }
  void op2(unsigned opcode, unsigned operand) {
    put1(code_, opcode);
    put2(code_, operand);
  }
  void push_int(std::uint32_t value) { op2(kLdcW, pool_.integer(value)); }
  void push_long(std::uint64_t value) { op2(kLdc2W, pool_.long_integer(value)); }
  // A forward jump; land() puts its target here.
  std::size_t jump(unsigned opcode) {
    op2(opcode, 0);
    return code_.size() - 3;
  }
  void land(std::size_t jump) { set2(code_, jump + 1, static_cast<unsigned>(code_.size() - jump)); }
  // A jump to an earlier position.
  void jump_back(unsigned opcode, std::size_t target) {
    op2(opcode, static_cast<unsigned>(target - code_.size()) & 0xffff);
  }
  // Everything that is thrown between the first two positions is handled at the third. Innermost handlers first.
  void catch_all(std::size_t start, std::size_t end, std::size_t handler) {
    put2(handlers_, static_cast<unsigned>(start));
    put2(handlers_, static_cast<unsigned>(end));
    put2(handlers_, static_cast<unsigned>(handler));
    put2(handlers_, 0);
  }
  const Bytes& bytes() const { return code_; }
  const Bytes& handlers() const { return handlers_; }

 private:
  ConstantPool& pool_;
  Bytes code_;
  Bytes handlers_;  // in the form of the exception table
};

class ClassBuilder {
 public:
  ClassBuilder(std::string_view name, std::string_view super) : pool_(1) {
    this_class_ = pool_.klass(name);
    super_class_ = pool_.klass(super);
    code_name_ = pool_.utf8("Code");
    annotations_name_ = pool_.utf8("RuntimeVisibleAnnotations");
  }

  ConstantPool& pool() { return pool_; }
  std::uint16_t this_class() const { return this_class_; }
  void add_field(unsigned access, std::string_view name, std::string_view descriptor) {
    put2(fields_, access);
    put2(fields_, pool_.utf8(name));
    put2(fields_, pool_.utf8(descriptor));
    put2(fields_, 0);
    ++field_count_;
  }
  void add_native(unsigned access, std::string_view name, std::string_view descriptor) {
    add_head(access | 0x0100, name, descriptor);
    put2(methods_, 0);
  }
  // `annotation`: descriptor of an annotation without values, or "".
  void add_method(unsigned access, std::string_view name, std::string_view descriptor, unsigned max_stack,
                  unsigned max_locals, const CodeBuilder& code, std::string_view annotation = "") {
    add_head(access, name, descriptor);
    put2(methods_, annotation.empty() ? 1 : 2);
    put2(methods_, code_name_);
    const auto size = static_cast<std::uint32_t>(code.bytes().size());
    const auto handlers = static_cast<std::uint32_t>(code.handlers().size());
    put4(methods_, 12 + size + handlers);
    put2(methods_, max_stack);
    put2(methods_, max_locals);
    put4(methods_, size);
    put_bytes(methods_, code.bytes().data(), size);
    put2(methods_, handlers / 8);
    put_bytes(methods_, code.handlers().data(), handlers);
    put2(methods_, 0);  // no attributes
    if (annotation.empty()) return;
    put2(methods_, annotations_name_);
    put4(methods_, 6);
    put2(methods_, 1);
    put2(methods_, pool_.utf8(annotation));
    put2(methods_, 0);
  }
  Bytes finish() const {
    Bytes out;
    put4(out, 0xCAFEBABE);
    put4(out, 49);
    put2(out, pool_.count());
    put_bytes(out, pool_.bytes().data(), pool_.bytes().size());
    put2(out, 0x0031);  // public final super
    put2(out, this_class_);
    put2(out, super_class_);
    put2(out, 0);
    put2(out, field_count_);
    put_bytes(out, fields_.data(), fields_.size());
    put2(out, method_count_);
    put_bytes(out, methods_.data(), methods_.size());
    put2(out, 0);
    return out;
  }

 private:
  void add_head(unsigned access, std::string_view name, std::string_view descriptor) {
    put2(methods_, access);
    put2(methods_, pool_.utf8(name));
    put2(methods_, pool_.utf8(descriptor));
    ++method_count_;
  }

  ConstantPool pool_;
  std::uint16_t this_class_;
  std::uint16_t super_class_;
  std::uint16_t code_name_;
  std::uint16_t annotations_name_;
  Bytes fields_;
  Bytes methods_;
  unsigned field_count_ = 0;
  unsigned method_count_ = 0;
};

}  // namespace jtrace::agent::classfile
