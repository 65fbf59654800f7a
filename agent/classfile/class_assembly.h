// Writes a class file again: unchanged except for the Code of some methods and appended constants. Pure.
#pragma once

#include "agent/classfile/class_file.h"
#include "agent/classfile/constant_pool.h"

namespace jtrace::agent::classfile {

class ClassAssembly {
 public:
  explicit ClassAssembly(const ClassFile& klass) : klass_(klass) {
    body_.reserve(klass.bytes().size() * 2);
    copy(klass.constants_end(), klass.methods_start() + 2);
  }

  // The class's methods, in their order: unchanged, or with another Code attribute.
  void add(const Method& method) { copy(method.start, method.end); }
  void add(const Method& method, const Bytes& code) {
    copy(method.start, method.code.start);
    put_bytes(body_, code.data(), code.size());
    copy(method.code.data + method.code.size, method.end);
  }
  // Call it after the last method. `pool`: the constants that were appended to the class's.
  void finish(const ConstantPool& pool, Bytes& out) {
    copy(klass_.methods_end(), klass_.bytes().size());
    out.clear();
    out.reserve(klass_.constants_end() + pool.bytes().size() + body_.size());
    put_bytes(out, klass_.bytes().data(), klass_.constants_end());
    set2(out, 8, pool.count());
    put_bytes(out, pool.bytes().data(), pool.bytes().size());
    put_bytes(out, body_.data(), body_.size());
  }

 private:
  void copy(std::size_t from, std::size_t to) { put_bytes(body_, klass_.bytes().data() + from, to - from); }

  const ClassFile& klass_;
  Bytes body_;
};

}  // namespace jtrace::agent::classfile
