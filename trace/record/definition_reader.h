// Definition records (definition.h) decoded. The bytes come from a foreign process: everything is checked. Pure, any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "trace/record/definition.h"

namespace jtrace::trace::record {

// Texts are UTF-8 here, whatever they were in the record.
struct ThreadDefinition {
  std::uint64_t tid;  // inner kernel tid, 0: unknown
  std::uint8_t flags;
  std::string name, group, parent;
};
struct ClassDefinition {
  std::uint64_t thread;
  std::uint8_t flags;
  std::uint32_t access, static_fields, instance_fields, methods;
  std::string signature, source;
  std::uint64_t loader_class;
  std::string loader, superclass;
  std::vector<std::string> interfaces;
};
struct MethodDefinition {
  std::uint64_t class_id;
  std::uint32_t access;
  std::int32_t first_line, last_line;
  std::string name, signature;
  bool exceptions_known;
  std::vector<std::string> exceptions;
};
struct ObjectDefinition {
  std::uint64_t class_id, size;
  std::uint8_t is_array;
};
struct StackFrame {
  std::uint64_t method;
  std::int32_t line;
};
struct StackDefinition {
  std::vector<StackFrame> frames;  // innermost first
};
struct OptionDefinition {
  std::string key, value;
};
struct ClockDefinition {
  std::uint64_t monotonic, realtime, resolution;  // ns
};

struct TextDefinition {
  std::uint32_t length;  // of the whole string, in chars
  std::string text;
};

struct StandsForDefinition {
  std::uint64_t method;  // methodId
};

struct Definition {
  std::uint64_t time = 0;
  std::uint64_t id = 0;
  std::variant<ThreadDefinition, ClassDefinition, MethodDefinition, ObjectDefinition, StackDefinition, OptionDefinition,
               ClockDefinition, TextDefinition, StandsForDefinition>
      fields;
};

// `record`: one definition behind its u32 size. kMalformed where its fields do not fit its size or the kind is unknown.
Result<Definition> read_definition(std::span<const std::byte> record);

}  // namespace jtrace::trace::record
