#include "trace/record/definition_reader.h"

#include "base/bytes.h"
#include "base/strings.h"

namespace jtrace::trace::record {
namespace {

std::string read_utf8(ByteReader& reader) { return std::string(reader.read_text(reader.read<std::uint32_t>())); }
std::string read_modified(ByteReader& reader) {
  return utf8_from_modified(reader.read_text(reader.read<std::uint32_t>()));
}

// A count in front of items of at least `item_size` bytes each: what cannot be there fails before memory is taken for
// it.
std::uint32_t checked_count(ByteReader& reader, std::uint32_t count, std::size_t item_size) {
  if (count <= reader.remaining() / item_size) return count;
  reader.skip(reader.remaining() + 1);  // fails the reader
  return 0;
}

std::vector<std::string> read_texts(ByteReader& reader, std::uint32_t count) {
  std::vector<std::string> texts;
  for (count = checked_count(reader, count, sizeof(std::uint32_t)); count > 0; --count)
    texts.push_back(read_modified(reader));
  return texts;
}

ThreadDefinition read_thread(ByteReader& reader) {
  ThreadDefinition thread;
  thread.tid = reader.read<std::uint64_t>();
  thread.flags = reader.read<std::uint8_t>();
  thread.name = read_modified(reader);
  thread.group = read_modified(reader);
  thread.parent = read_modified(reader);
  return thread;
}

ClassDefinition read_class(ByteReader& reader) {
  ClassDefinition made;
  made.thread = reader.read<std::uint64_t>();
  made.flags = reader.read<std::uint8_t>();
  made.access = reader.read<std::uint32_t>();
  made.static_fields = reader.read<std::uint32_t>();
  made.instance_fields = reader.read<std::uint32_t>();
  made.methods = reader.read<std::uint32_t>();
  made.signature = read_modified(reader);
  made.source = read_modified(reader);
  made.loader_class = reader.read<std::uint64_t>();
  made.loader = read_modified(reader);
  made.superclass = read_modified(reader);
  made.interfaces = read_texts(reader, reader.read<std::uint32_t>());
  return made;
}

MethodDefinition read_method(ByteReader& reader) {
  MethodDefinition method;
  method.class_id = reader.read<std::uint64_t>();
  method.access = reader.read<std::uint32_t>();
  method.first_line = reader.read<std::int32_t>();
  method.last_line = reader.read<std::int32_t>();
  method.name = read_modified(reader);
  method.signature = read_modified(reader);
  const auto exceptions = reader.read<std::uint32_t>();
  method.exceptions_known = exceptions != 0xffffffff;
  if (method.exceptions_known) method.exceptions = read_texts(reader, exceptions);
  return method;
}

ObjectDefinition read_object(ByteReader& reader) {
  ObjectDefinition object;
  object.class_id = reader.read<std::uint64_t>();
  object.size = reader.read<std::uint64_t>();
  object.is_array = reader.read<std::uint8_t>();
  return object;
}

StackDefinition read_stack(ByteReader& reader) {
  StackDefinition stack;
  for (auto count = checked_count(reader, reader.read<std::uint32_t>(), 12); count > 0; --count) {
    const auto method = reader.read<std::uint64_t>();
    stack.frames.push_back({method, reader.read<std::int32_t>()});
  }
  return stack;
}

OptionDefinition read_option(ByteReader& reader) {
  OptionDefinition option;
  option.key = read_utf8(reader);
  option.value = read_utf8(reader);
  return option;
}

TextDefinition read_string(ByteReader& reader) {
  TextDefinition string;
  string.length = reader.read<std::uint32_t>();
  string.text = read_modified(reader);
  return string;
}

ClockDefinition read_clock(ByteReader& reader) {
  ClockDefinition clock;
  clock.monotonic = reader.read<std::uint64_t>();
  clock.realtime = reader.read<std::uint64_t>();
  clock.resolution = reader.read<std::uint64_t>();
  return clock;
}

}  // namespace

Result<Definition> read_definition(std::span<const std::byte> record) {
  ByteReader reader(record);
  const auto kind = static_cast<DefinitionKind>(reader.read<std::uint8_t>());
  Definition definition;
  definition.time = reader.read<std::uint64_t>();
  definition.id = reader.read<std::uint64_t>();
  switch (kind) {
    case DefinitionKind::kThread: definition.fields = read_thread(reader); break;
    case DefinitionKind::kClass: definition.fields = read_class(reader); break;
    case DefinitionKind::kMethod: definition.fields = read_method(reader); break;
    case DefinitionKind::kObject: definition.fields = read_object(reader); break;
    case DefinitionKind::kStack: definition.fields = read_stack(reader); break;
    case DefinitionKind::kOption: definition.fields = read_option(reader); break;
    case DefinitionKind::kClock: definition.fields = read_clock(reader); break;
    case DefinitionKind::kText: definition.fields = read_string(reader); break;
    case DefinitionKind::kStandsFor: definition.fields = StandsForDefinition{reader.read<std::uint64_t>()}; break;
    default: return fail(ErrorCategory::kMalformed, "a definition of an unknown kind");
  }
  if (reader.failed()) return fail(ErrorCategory::kMalformed, "a definition is shorter than its fields");
  return definition;
}

}  // namespace jtrace::trace::record
