#include "coreinspect/graph/object_fields.h"

#include "base/utf8.h"
#include "coreinspect/hprof/redaction.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint8_t kChar = 5;    // JVM_T_CHAR: a String of JDK 8
constexpr std::uint64_t kUtf16 = 1;  // String.coder

}  // namespace

std::optional<ObjectFields::Place> ObjectFields::find(std::uint32_t class_number, std::string_view field,
                                                      std::string_view declared_in) const {
  std::optional<Place> found;
  each_field(class_number, [&](std::uint32_t declared, std::uint32_t, const HprofField& each, const Place& place) {
    const bool counts = declared_in.empty() || graph_.classes()[declared].name == declared_in;
    if (counts && graph_.file().text(each.name) == field) found = place;
    return !found;
  });
  return found;
}

bool ObjectFields::is_a(std::uint32_t class_number, std::string_view name) const {
  for (int depth = 0; class_number != kNoObject && depth < kDeepest; ++depth) {
    if (graph_.classes()[class_number].name == name) return true;
    class_number = graph_.superclass(class_number);
  }
  return false;
}

std::optional<ObjectFields::Place> ObjectFields::place_in(std::uint32_t object, std::string_view field) const {
  if (object == kNoObject || graph_.is_class(object)) return std::nullopt;
  return find(graph_.class_of(object), field);
}

std::optional<std::uint64_t> ObjectFields::number(std::uint32_t object, const std::optional<Place>& place) const {
  if (!place || object == kNoObject || graph_.is_class(object)) return std::nullopt;
  const HprofObject record = graph_.record(object);
  const std::uint32_t size = graph_.file().field_size(place->type);
  if (record.kind != HprofSub::kInstanceDump || std::uint64_t{place->offset} + size > record.count) return std::nullopt;
  return graph_.file().number(record.body + place->offset, size);
}

std::uint32_t ObjectFields::reference(std::uint32_t object, const std::optional<Place>& place) const {
  const auto id = number(object, place);
  return !id || *id == 0 || place->type != 2 ? kNoObject : graph_.find(*id);
}

std::uint32_t ObjectFields::static_reference(std::uint32_t class_number, std::string_view field) const {
  const HprofClass* const record = graph_.class_record(class_number);
  if (record == nullptr) return kNoObject;
  for (const HprofStatic& each : record->statics)
    if (each.field.type == 2 && each.value != 0 && graph_.file().text(each.field.name) == field)
      return graph_.find(each.value);
  return kNoObject;
}

bool ObjectFields::is_array(std::uint32_t object) const {
  return object != kNoObject && !graph_.is_class(object) && graph_.record(object).kind != HprofSub::kInstanceDump;
}

std::uint64_t ObjectFields::length(std::uint32_t array) const {
  return is_array(array) ? graph_.record(array).count : 0;
}

std::uint32_t ObjectFields::element(std::uint32_t array, std::uint64_t i) const {
  if (i >= length(array)) return kNoObject;
  const HprofObject record = graph_.record(array);
  if (record.kind != HprofSub::kObjectArrayDump) return kNoObject;
  const std::uint64_t id = graph_.file().id(record.body + i * graph_.file().id_size());
  return id == 0 ? kNoObject : graph_.find(id);
}

bool ObjectFields::is_hidden(std::uint32_t array) const {
  const HprofFile& file = graph_.file();
  if (!file.is_redacted()) return false;
  if (file.kept_fields().empty()) return true;
  const HprofObject record = graph_.record(array);
  const auto bytes = file.bytes(record.body, record.end - record.body);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each == std::byte{0}; });
}

std::string ObjectFields::text(std::uint32_t string, std::size_t most) const {
  const std::uint32_t value = reference(string, "value");
  if (value == kNoObject || !is_array(value)) return "";
  const bool is_utf16 = number(string, "coder").value_or(0) == kUtf16;
  const HprofObject record = graph_.record(value);
  if (record.kind != HprofSub::kPrimitiveArrayDump) return "";
  const std::uint64_t count = is_utf16 && record.type != kChar ? record.count / 2 : record.count;
  if (is_hidden(value)) return kRedacted;
  return characters(value, is_utf16, most) + (count > most ? "..." : "");
}

std::string ObjectFields::characters(std::uint32_t array, bool is_utf16, std::size_t most) const {
  const HprofObject record = graph_.record(array);
  if (record.kind != HprofSub::kPrimitiveArrayDump) return "";
  const HprofFile& file = graph_.file();
  if (is_hidden(array)) return kRedacted;
  const bool is_chars = record.type == kChar;
  const std::uint64_t count = is_utf16 && !is_chars ? record.count / 2 : record.count;
  const auto unit = [&](std::uint64_t i) -> std::uint64_t {
    if (is_chars) return file.number(record.body + 2 * i, 2);
    if (!is_utf16) return file.number(record.body + i, 1);
    // The bytes of a JVM on x86-64: little endian.
    return file.number(record.body + 2 * i, 1) | file.number(record.body + 2 * i + 1, 1) << 8;
  };
  std::vector<std::uint16_t> units(std::min<std::uint64_t>(count, most));
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = static_cast<std::uint16_t>(unit(i));
  return utf8_from_utf16(units);
}

}  // namespace jtrace::coreinspect
