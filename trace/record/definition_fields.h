// The fields of a definition for writing (definitions.def): a struct for each kind, ThreadFields to StandsForFields,
// and write_fields(), which writes them. Texts are views that the caller keeps alive. Header only (agent).
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "trace/record/definition.h"

namespace jtrace::trace::record {

// Items that are bytes already, and their number.
struct LaidOut {
  std::uint32_t count = 0;
  std::string_view bytes;
};
inline constexpr std::uint32_t kNotKnown = 0xffffffff;  // the count of a KnownTexts

namespace fields_written {
using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I32 = std::int32_t;
using Text = std::string_view;
using Utf8 = std::string_view;
using Texts = LaidOut;
using KnownTexts = LaidOut;
using Frames = LaidOut;
}  // namespace fields_written

#define DEFINITION(number, Name, id, text) \
  struct Name##Fields {                    \
    static constexpr DefinitionKind kKind = DefinitionKind::k##Name;
#define FIELD(type, member, text) fields_written::type member{};
#define DEFINITION_END(Name) \
  }                          \
  ;
#include "trace/record/definitions.def"

// `Out` has put(number), put_text(text) and put_bytes(data, size).
template <class Out, std::integral Number>
void write_field(Out& out, Number value) {
  out.put(value);
}
template <class Out>
void write_field(Out& out, std::string_view text) {
  out.put_text(text);
}
template <class Out>
void write_field(Out& out, const LaidOut& items) {
  out.put(items.count);
  out.put_bytes(items.bytes.data(), items.bytes.size());
}

#define DEFINITION(number, Name, id, text) \
  template <class Out>                     \
  void write_fields(Out& out, const Name##Fields& fields) {
#define FIELD(type, member, text) write_field(out, fields.member);
#define DEFINITION_END(Name) }
#include "trace/record/definitions.def"

}  // namespace jtrace::trace::record
