// DefinitionBuilder: the bytes of one definition record (definition.h), for tests, benchmarks and the fuzz corpus. The
// agent has its own (agent/definition_stream.h). Texts are taken as they are.
#pragma once

#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "trace/record/definition.h"

namespace jtrace::trace::record {

class DefinitionBuilder {
 public:
  DefinitionBuilder(DefinitionKind kind, std::uint64_t id, std::uint64_t time) {
    number(std::uint32_t{0}).number(static_cast<std::uint8_t>(kind)).number(time).number(id);
  }
  template <std::integral T>
  DefinitionBuilder& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  DefinitionBuilder& text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_.append(value);
    return *this;
  }
  DefinitionBuilder& texts(const std::vector<std::string>& values) {
    number(static_cast<std::uint32_t>(values.size()));
    for (const std::string& value : values) text(value);
    return *this;
  }
  // The record with its size in front.
  const std::string& bytes() {
    const auto size = static_cast<std::uint32_t>(bytes_.size() - sizeof(std::uint32_t));
    std::memcpy(bytes_.data(), &size, sizeof size);
    return bytes_;
  }

 private:
  std::string bytes_;
};

inline std::string thread_definition(std::uint64_t id, std::uint64_t time, std::string_view name,
                                     std::uint8_t flags = 0, std::string_view group = "main",
                                     std::string_view parent = "system", std::uint64_t tid = 0) {
  return DefinitionBuilder(DefinitionKind::kThread, id, time)
      .number(tid)
      .number(flags)
      .text(name)
      .text(group)
      .text(parent)
      .bytes();
}
inline std::string class_definition(std::uint64_t id, std::uint64_t time, std::string_view signature,
                                    std::uint64_t thread = 0, std::uint8_t flags = kClassLoadedBefore,
                                    const std::vector<std::string>& interfaces = {}) {
  return DefinitionBuilder(DefinitionKind::kClass, id, time)
      .number(thread)
      .number(flags)
      .number(std::uint32_t{1})
      .number(std::uint32_t{2})
      .number(std::uint32_t{3})
      .number(std::uint32_t{4})
      .text(signature)
      .text("Source.java")
      .number(std::uint64_t{0})
      .text("")
      .text("java/lang/Object")
      .texts(interfaces)
      .bytes();
}
inline std::string method_definition(std::uint64_t id, std::uint64_t time, std::uint64_t class_id,
                                     std::string_view name, std::string_view signature = "()V",
                                     std::uint32_t access = 1) {
  return DefinitionBuilder(DefinitionKind::kMethod, id, time)
      .number(class_id)
      .number(access)
      .number(std::int32_t{10})
      .number(std::int32_t{20})
      .text(name)
      .text(signature)
      .number(std::uint32_t{0xffffffff})
      .bytes();
}
inline std::string stands_for_definition(std::uint64_t id, std::uint64_t time, std::uint64_t method) {
  return DefinitionBuilder(DefinitionKind::kStandsFor, id, time).number(method).bytes();
}
inline std::string object_definition(std::uint64_t id, std::uint64_t time, std::uint64_t class_id, std::uint64_t size,
                                     std::uint8_t is_array = 0) {
  return DefinitionBuilder(DefinitionKind::kObject, id, time).number(class_id).number(size).number(is_array).bytes();
}
inline std::string stack_definition(std::uint64_t id, std::uint64_t time,
                                    const std::vector<std::pair<std::uint64_t, std::int32_t>>& frames) {
  DefinitionBuilder builder(DefinitionKind::kStack, id, time);
  builder.number(static_cast<std::uint32_t>(frames.size()));
  for (const auto& [method, line] : frames) builder.number(method).number(line);
  return builder.bytes();
}
inline std::string option_definition(std::string_view key, std::string_view value) {
  return DefinitionBuilder(DefinitionKind::kOption, 0, 1).text(key).text(value).bytes();
}

}  // namespace jtrace::trace::record
