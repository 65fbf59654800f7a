// Class files for the rewriter's tests, made by hand: one class with one method whose Code is given.
#pragma once

#include <string_view>
#include <vector>

#include "agent/classfile/class_builder.h"
#include "agent/classfile/class_rewriter.h"

namespace jtrace::agent::classfile {

struct TestHandler {
  unsigned start, end, target;
};
struct TestMethod {
  std::string_view name = "work";
  std::string_view descriptor = "()V";
  unsigned access = 0x0009;
  Bytes code = {};
  std::vector<TestHandler> handlers = {};
  std::vector<std::pair<unsigned, unsigned>> lines = {};   // pc, line
  std::vector<std::pair<unsigned, unsigned>> locals = {};  // pc, length
  Bytes frames = {};                                       // count and entries of a StackMapTable; empty: none
};

inline Bytes text_constant(std::string_view text) {
  Bytes made;
  put1(made, 1);
  put2(made, static_cast<unsigned>(text.size()));
  put_bytes(made, text.data(), text.size());
  return made;
}

// `first`: constants that come first in the pool, so that code can refer to fixed indices from 1 on.
inline Bytes test_class(const TestMethod& method, unsigned major = 52, const std::vector<Bytes>& first = {},
                        unsigned filler = 0) {
  Bytes constants;
  unsigned count = 1;
  for (const Bytes& each : first) {
    put_bytes(constants, each.data(), each.size());
    ++count;
  }
  const auto utf8 = [&](std::string_view text) {
    const Bytes made = text_constant(text);
    put_bytes(constants, made.data(), made.size());
    return count++;
  };
  const auto klass = [&](std::string_view name) {
    const unsigned index = utf8(name);
    put1(constants, 7);
    put2(constants, index);
    return count++;
  };
  const unsigned self = klass("test/Made");
  const unsigned super = klass("java/lang/Object");
  const unsigned code_name = utf8("Code");
  const unsigned lines_name = utf8("LineNumberTable");
  const unsigned locals_name = utf8("LocalVariableTable");
  const unsigned frames_name = utf8("StackMapTable");
  const unsigned name = utf8(method.name);
  const unsigned descriptor = utf8(method.descriptor);
  for (unsigned i = 0; i < filler; ++i) utf8("");

  Bytes attributes;
  unsigned attribute_count = 0;
  const auto attribute = [&](unsigned attribute_name, const Bytes& data) {
    put2(attributes, attribute_name);
    put4(attributes, static_cast<std::uint32_t>(data.size()));
    put_bytes(attributes, data.data(), data.size());
    ++attribute_count;
  };
  if (!method.lines.empty()) {
    Bytes data;
    put2(data, static_cast<unsigned>(method.lines.size()));
    for (const auto& [pc, line] : method.lines) {
      put2(data, pc);
      put2(data, line);
    }
    attribute(lines_name, data);
  }
  if (!method.locals.empty()) {
    Bytes data;
    put2(data, static_cast<unsigned>(method.locals.size()));
    for (const auto& [pc, length] : method.locals) {
      put2(data, pc);
      put2(data, length);
      for (int k = 0; k < 3; ++k) put2(data, k == 2 ? 0 : name);
    }
    attribute(locals_name, data);
  }
  if (!method.frames.empty()) attribute(frames_name, method.frames);

  Bytes code;
  put2(code, 4);
  put2(code, 4);
  put4(code, static_cast<std::uint32_t>(method.code.size()));
  put_bytes(code, method.code.data(), method.code.size());
  put2(code, static_cast<unsigned>(method.handlers.size()));
  for (const TestHandler& handler : method.handlers) {
    put2(code, handler.start);
    put2(code, handler.end);
    put2(code, handler.target);
    put2(code, 0);
  }
  put2(code, attribute_count);
  put_bytes(code, attributes.data(), attributes.size());

  Bytes out;
  put4(out, 0xCAFEBABE);
  put4(out, major);
  put2(out, count);
  put_bytes(out, constants.data(), constants.size());
  put2(out, 0x0021);
  put2(out, self);
  put2(out, super);
  put2(out, 0);
  put2(out, 0);
  put2(out, 1);
  put2(out, method.access);
  put2(out, name);
  put2(out, descriptor);
  put2(out, 1);
  put2(out, code_name);
  put4(out, static_cast<std::uint32_t>(code.size()));
  put_bytes(out, code.data(), code.size());
  put2(out, 0);
  return out;
}

// A rewritten (or any) method, parsed without the rewriter.
struct ReadMethod {
  unsigned max_stack = 0;
  Bytes code;
  struct Handler {
    unsigned start, end, target, type;
  };
  std::vector<Handler> handlers;
  std::vector<std::pair<unsigned, unsigned>> lines;
  std::vector<std::pair<unsigned, unsigned>> locals;
  Bytes frames;  // as TestMethod
};

inline ReadMethod read_method(const ClassFile& klass, std::size_t index = 0) {
  ReadMethod made;
  Reader reader(klass.bytes(), klass.methods()[index].code.data);
  made.max_stack = reader.u2();
  reader.skip(2);
  const std::uint32_t size = reader.u4();
  for (std::uint32_t i = 0; i < size; ++i) made.code.push_back(reader.u1());
  for (unsigned left = reader.u2(); left > 0; --left) {
    const unsigned start = reader.u2();
    const unsigned end = reader.u2();
    const unsigned target = reader.u2();
    made.handlers.push_back({start, end, target, reader.u2()});
  }
  for (unsigned left = reader.u2(); left > 0; --left) {
    const Attribute each = klass.read_attribute(reader);
    Reader data(klass.bytes(), each.data);
    if (each.name == "StackMapTable")
      for (std::size_t i = 0; i < each.size; ++i) made.frames.push_back(data.u1());
    if (each.name == "LineNumberTable")
      for (unsigned k = data.u2(); k > 0; --k) {
        const unsigned pc = data.u2();
        made.lines.emplace_back(pc, data.u2());
      }
    if (each.name == "LocalVariableTable")
      for (unsigned k = data.u2(); k > 0; --k) {
        const unsigned pc = data.u2();
        made.locals.emplace_back(pc, data.u2());
        data.skip(6);
      }
  }
  return made;
}

}  // namespace jtrace::agent::classfile
