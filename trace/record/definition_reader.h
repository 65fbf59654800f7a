// Decodes definition records (definition.h). The bytes come from a foreign process: everything is checked. Pure, any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "trace/record/definition.h"
#include "trace/record/field_reader.h"

namespace jtrace::trace::record {

struct StackFrame {
  std::uint64_t method;
  std::int32_t line;
};

// The types of definitions.def that field_reader.h does not have.
namespace fields_read {
using Texts = std::vector<std::string>;
using KnownTexts = std::optional<std::vector<std::string>>;
using Frames = std::vector<StackFrame>;
}  // namespace fields_read

// ThreadDefinition to StandsForDefinition: structs with the fields of definitions.def.
#define DEFINITION(number, Name, id, text) struct Name##Definition {
#define FIELD(type, member, text) fields_read::type member{};
#define DEFINITION_END(Name) \
  }                          \
  ;
#include "trace/record/definitions.def"

struct Definition {
  std::uint64_t time = 0;
  std::uint64_t id = 0;
  std::variant<std::monostate
#define DEFINITION(number, Name, id, text) , Name##Definition
#include "trace/record/definitions.def"
               >
      fields;
};

// `record`: one definition without its u32 size. kMalformed if its fields do not fit its size or the kind is unknown.
Result<Definition> read_definition(std::span<const std::byte> record);

}  // namespace jtrace::trace::record
