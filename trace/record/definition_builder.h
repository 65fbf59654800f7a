// DefinitionBuilder: makes the bytes of one definition record (definition.h) for tests, benchmarks and the fuzz corpus.
// The agent has its own code for this (agent/definition_stream.h). Texts are not converted.
#pragma once

#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "trace/record/definition_fields.h"

namespace jtrace::trace::record {

class DefinitionBuilder {
 public:
  DefinitionBuilder(DefinitionKind kind, std::uint64_t id, std::uint64_t time) {
    put(std::uint32_t{0});
    put(static_cast<std::uint8_t>(kind));
    put(time);
    put(id);
  }
  template <class Fields>
  DefinitionBuilder(std::uint64_t id, std::uint64_t time, const Fields& fields)
      : DefinitionBuilder(Fields::kKind, id, time) {
    write_fields(*this, fields);
  }
  template <std::integral T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  void put_text(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
  }
  void put_bytes(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }
  // The record, beginning with its size.
  const std::string& bytes() {
    const auto size = static_cast<std::uint32_t>(bytes_.size() - sizeof(std::uint32_t));
    std::memcpy(bytes_.data(), &size, sizeof size);
    return bytes_;
  }

 private:
  std::string bytes_;
};

template <class Fields>
std::string definition_bytes(std::uint64_t id, std::uint64_t time, const Fields& fields) {
  return DefinitionBuilder(id, time, fields).bytes();
}

// The items of a list as bytes.
struct ListBytes {
  std::string bytes;
  std::uint32_t count = 0;
  void put(std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
    ++count;
  }
  void put(std::uint64_t method, std::int32_t line) {
    bytes.append(reinterpret_cast<const char*>(&method), sizeof method);
    bytes.append(reinterpret_cast<const char*>(&line), sizeof line);
    ++count;
  }
  LaidOut view() const { return {count, bytes}; }
};

inline std::string thread_definition(std::uint64_t id, std::uint64_t time, std::string_view name,
                                     std::uint8_t flags = 0, std::string_view group = "main",
                                     std::string_view parent = "system", std::uint64_t tid = 0) {
  return definition_bytes(id, time,
                          ThreadFields{.tid = tid, .flags = flags, .name = name, .group = group, .parent = parent});
}
inline std::string class_definition(std::uint64_t id, std::uint64_t time, std::string_view signature,
                                    std::uint64_t thread = 0, std::uint8_t flags = kClassLoadedBefore,
                                    const std::vector<std::string>& interfaces = {}) {
  ListBytes names;
  for (const std::string& each : interfaces) names.put(each);
  return definition_bytes(id, time,
                          ClassFields{.thread = thread,
                                      .flags = flags,
                                      .access = 1,
                                      .static_fields = 2,
                                      .instance_fields = 3,
                                      .methods = 4,
                                      .signature = signature,
                                      .source = "Source.java",
                                      .superclass = "java/lang/Object",
                                      .interfaces = names.view()});
}
inline std::string method_definition(std::uint64_t id, std::uint64_t time, std::uint64_t class_id,
                                     std::string_view name, std::string_view signature = "()V",
                                     std::uint32_t access = 1) {
  return definition_bytes(id, time,
                          MethodFields{.class_id = class_id,
                                       .access = access,
                                       .first_line = 10,
                                       .last_line = 20,
                                       .name = name,
                                       .signature = signature,
                                       .exceptions = {kNotKnown, {}}});
}
inline std::string stands_for_definition(std::uint64_t id, std::uint64_t time, std::uint64_t method) {
  return definition_bytes(id, time, StandsForFields{.method = method});
}
inline std::string object_definition(std::uint64_t id, std::uint64_t time, std::uint64_t class_id, std::uint64_t size,
                                     std::uint8_t is_array = 0) {
  return definition_bytes(id, time, ObjectFields{.class_id = class_id, .size = size, .is_array = is_array});
}
inline std::string stack_definition(std::uint64_t id, std::uint64_t time,
                                    const std::vector<std::pair<std::uint64_t, std::int32_t>>& frames) {
  ListBytes list;
  for (const auto& [method, line] : frames) list.put(method, line);
  return definition_bytes(id, time, StackFields{.frames = list.view()});
}
inline std::string option_definition(std::string_view key, std::string_view value) {
  return definition_bytes(0, 1, OptionFields{.key = key, .value = value});
}

}  // namespace jtrace::trace::record
