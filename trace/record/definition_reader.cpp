#include "trace/record/definition_reader.h"

#include "base/bytes.h"
#include "base/strings.h"
#include "trace/record/definition_fields.h"

namespace jtrace::trace::record {
namespace {

// Reads the number of items of at least `item_size` bytes each. An impossible number fails before memory is allocated
// for it.
std::uint32_t checked_count(ByteReader& reader, std::uint32_t count, std::size_t item_size) {
  if (count <= reader.remaining() / item_size) return count;
  reader.skip(reader.remaining() + 1);  // fails the reader
  return 0;
}

fields_read::Texts read_texts(ByteReader& reader, std::uint32_t count) {
  fields_read::Texts texts;
  for (count = checked_count(reader, count, sizeof(std::uint32_t)); count > 0; --count)
    texts.push_back(read_Text(reader));
  return texts;
}
fields_read::Texts read_Texts(ByteReader& reader) { return read_texts(reader, read_U32(reader)); }
fields_read::KnownTexts read_KnownTexts(ByteReader& reader) {
  const std::uint32_t count = read_U32(reader);
  if (count == kNotKnown) return std::nullopt;
  return read_texts(reader, count);
}
fields_read::Frames read_Frames(ByteReader& reader) {
  fields_read::Frames frames;
  for (auto count = checked_count(reader, read_U32(reader), 12); count > 0; --count) {
    const std::uint64_t method = read_U64(reader);
    frames.push_back({method, read_I32(reader)});
  }
  return frames;
}

// One function for each kind.
#define DEFINITION(number, Name, id, text)             \
  Name##Definition decode_##Name(ByteReader& reader) { \
    Name##Definition made;
#define FIELD(type, member, text) made.member = read_##type(reader);
#define DEFINITION_END(Name) \
  return made;               \
  }
#include "trace/record/definitions.def"

}  // namespace

Result<Definition> read_definition(std::span<const std::byte> record) {
  ByteReader reader(record);
  const auto kind = static_cast<DefinitionKind>(reader.read<std::uint8_t>());
  Definition definition;
  definition.time = reader.read<std::uint64_t>();
  definition.id = reader.read<std::uint64_t>();
  switch (kind) {
#define DEFINITION(number, Name, id, text)     \
  case DefinitionKind::k##Name:                \
    definition.fields = decode_##Name(reader); \
    break;
#include "trace/record/definitions.def"
    default: return fail(ErrorCategory::kMalformed, "a definition of an unknown kind");
  }
  if (reader.failed()) return fail(ErrorCategory::kMalformed, "a definition is shorter than its fields");
  return definition;
}

}  // namespace jtrace::trace::record
