#include "coreinspect/tools/graph_values.h"

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/runtime/java_number.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxDepth = 3;
constexpr std::size_t kMaxEntries = 10, kMaxElements = 20, kMaxText = 200, kLongestKey = 1000;
constexpr std::uint8_t kReference = 2, kCharType = 5;

// The descriptor of a type of a dump (hprof_b_spec.h).
char descriptor_of(std::uint8_t type) {
  constexpr std::string_view kTypes = "ZCFDBSIJ";
  return type >= 4 && type < 4 + kTypes.size() ? kTypes[type - 4] : 'L';
}

std::string rest(std::size_t left_out) { return left_out == 0 ? "" : ", ... " + std::to_string(left_out) + " more"; }

}  // namespace

bool GraphValues::is_text(std::uint64_t address) {
  const std::string type = address == 0 ? "" : objects_.class_of(address);
  return type == "java.lang.String" || type == "char[]" || type == "byte[]" || type.starts_with("java.lang.StringBu");
}

bool GraphValues::is_secret_key(std::uint64_t key) {
  if (mask_.shows() || key == 0 || objects_.class_of(key) != "java.lang.String") return false;
  return looks_secret(fields_.text(graph_.find(key), kLongestKey));
}

std::string GraphValues::value_of(std::uint64_t bits, std::uint8_t type, int depth) {
  if (type == kReference) return text(bits, depth);
  const std::string text = primitive_text(bits, descriptor_of(type));
  return type == kCharType ? "'" + escaped_text(text) + "'" : text;
}

std::string GraphValues::named(std::string_view name, std::uint64_t key, std::uint64_t bits, std::uint8_t type,
                               int depth, bool* masked) {
  const bool secret = hides() && type == kReference && (in_secret_ || names_secret_field(name) || is_secret_key(key));
  const bool is_whole = secret && is_text(bits);
  if (masked != nullptr) *masked = is_whole;
  if (is_whole) return mask_.value_of(true, "");
  // Of a list, an Optional and the like each text is masked.
  const bool before = std::exchange(in_secret_, secret);
  std::string text = value_of(bits, type, depth);
  in_secret_ = before;
  return text;
}

std::string GraphValues::array(std::uint32_t object, int depth) {
  const HprofObject record = graph_.record(object);
  const bool of_references = record.kind == HprofSub::kObjectArrayDump;
  if (redacted_ && !of_references && fields_.is_hidden(object)) return record.count == 0 ? "[]" : kRedacted;
  if (record.type == kCharType && !of_references)
    return quoted_text(fields_.characters(object, true, kMaxText)) + (record.count > kMaxText ? "..." : "");
  std::string list;
  const std::uint64_t most = std::min<std::uint64_t>(record.count, depth == 0 ? kMaxElements : kMaxEntries);
  for (std::uint64_t i = 0; i < most; ++i) list += (i == 0 ? "" : ", ") + element(object, record, i, depth + 1).value;
  return "[" + list + rest(record.count - most) + "]";
}

GraphField GraphValues::element(std::uint32_t array, const HprofObject& record, std::uint64_t i, int depth) {
  const bool of_references = record.kind == HprofSub::kObjectArrayDump;
  const std::uint8_t type = of_references ? kReference : record.type;
  const std::uint32_t size = graph_.file().field_size(type);
  GraphField field{.name = "[" + std::to_string(i) + "]", .value = kRedacted, .declared_by = {}};
  if (redacted_ && !of_references && fields_.is_hidden(array)) return field;
  const std::uint64_t bits = graph_.file().number(record.body + i * size, size);
  // Maps without nodes (Map.of, IdentityHashMap) have each value after its key.
  const std::uint64_t key = of_references && i % 2 == 1
                                ? objects_.element(graph_.address(array), static_cast<std::uint32_t>(i - 1)).value_or(0)
                                : 0;
  bool masked = false;
  field.value = named("", key, bits, type, depth, &masked);
  field.refers = of_references;
  field.reference = of_references && !masked ? bits : 0;
  return field;
}

std::vector<GraphField> GraphValues::elements(std::uint32_t array, std::uint64_t most) {
  std::vector<GraphField> found;
  const HprofObject record = graph_.record(array);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(record.count, most); ++i)
    found.push_back(element(array, record, i, 1));
  return found;
}

std::vector<GraphField> GraphValues::statics(std::uint32_t class_object) {
  std::vector<GraphField> found;
  const std::uint32_t of = graph_.class_of_mirror(class_object);
  const HprofClass* const record = of == kNoObject ? nullptr : graph_.class_record(of);
  if (record == nullptr) return found;
  for (const HprofStatic& each : record->statics) {
    GraphField field{
        .name = graph_.file().text(each.field.name), .value = kRedacted, .declared_by = graph_.classes()[of].name};
    bool masked = false;
    if (!redacted_ || each.field.type == kReference || stays_redacted(field.declared_by, field.name) ||
        kept_.keeps(field.declared_by, field.name))
      field.value = named(field.name, 0, each.value, each.field.type, 1, &masked);
    field.refers = each.field.type == kReference;
    field.reference = field.refers && !masked ? each.value : 0;
    found.push_back(std::move(field));
  }
  return found;
}

std::string GraphValues::collection(std::uint64_t address, int depth) {
  std::string list;
  std::size_t count = 0;
  const bool known = contents_.each_element(address, [&](Address element) {
    if (++count > kMaxEntries) return count < graph_.size();
    list += (count == 1 ? "" : ", ") + named("", 0, element, kReference, depth + 1);
    return true;
  });
  if (!known) return "";
  return "(" + std::to_string(count) + ") [" + list + rest(count - std::min(count, kMaxEntries)) + "]";
}

std::string GraphValues::map(std::uint64_t address, int depth) {
  std::string list;
  std::size_t count = 0;
  const bool known = contents_.each_entry(address, [&](Address key, Address value) {
    if (++count > kMaxEntries) return count < graph_.size();
    list += (count == 1 ? "" : ", ") + text(key, depth + 1) + "=" + named("", key, value, kReference, depth + 1);
    return true;
  });
  if (!known) return "";
  return "(" + std::to_string(count) + ") {" + list + rest(count - std::min(count, kMaxEntries)) + "}";
}

std::optional<ShownContents> GraphValues::entries(std::uint32_t object, std::size_t most) {
  if (graph_.is_class(object) || !graph_.classes()[graph_.class_of(object)].name.starts_with("java.util."))
    return std::nullopt;
  const auto value_of = [&](Address key, Address value) {
    bool masked = false;
    std::string text = named("", key, value, kReference, 1, &masked);
    return ShownContents::Value{.text = std::move(text), .reference = masked ? 0 : value};
  };
  return shown_contents(
      contents_, graph_.address(object), most, [&](Address key) { return text(key, 1); }, value_of);
}

std::string GraphValues::record(std::uint32_t object, int depth) {
  std::string text;
  for (const GraphField& field : fields(object, depth + 1))
    text += (text.empty() ? "" : ", ") + field.name + "=" + field.value;
  return "[" + text + "]";
}

std::string GraphValues::contents(std::uint32_t object) {
  return in_secret_ && is_text(graph_.address(object)) ? mask_.value_of(true, "") : contents(object, 0);
}

std::string GraphValues::contents(std::uint32_t object, int depth) {
  if (graph_.is_class(object)) return "";
  const std::uint64_t address = graph_.address(object);
  const std::string& type = graph_.classes()[graph_.class_of(object)].name;
  if (type == "java.lang.String") {
    const std::string text = fields_.text(object, kMaxText);
    return redacted_ && text == kRedacted ? text : quoted_text(text);
  }
  const std::uint32_t super = graph_.superclass(graph_.class_of(object));
  if (fields_.is_a(graph_.class_of(object), "java.lang.Enum"))
    return printable(fields_.text(
        fields_.reference(object, fields_.find(graph_.class_of(object), "name", "java.lang.Enum")), kMaxText));
  if (auto value = contents_.value(address, type)) {
    if (redacted_) return kRedacted;
    if (type == "java.lang.Character") return "'" + escaped_text(*value) + "'";
    return type.starts_with("java.lang.StringBu") ? quoted_text(*value) : printable(*value);
  }
  if (depth > kMaxDepth) return "";
  if (fields_.is_array(object)) return array(object, depth);
  if (super != kNoObject && graph_.classes()[super].name == "java.lang.Record") return record(object, depth);
  if (type == "java.util.Optional" || type == "java.util.concurrent.atomic.AtomicReference")
    return "[" + named("", 0, objects_.reference(address, "value"), kReference, depth + 1) + "]";
  if (!type.starts_with("java.util.")) return "";
  if (std::string list = collection(address, depth); !list.empty()) return list;
  return map(address, depth);
}

std::string GraphValues::text(std::uint64_t address, int depth) {
  if (address == 0) return "null";
  const std::uint32_t object = graph_.find(address);
  if (object == kNoObject) return "? @" + hex(address);
  std::string name = printable(graph_.name(object));
  if (graph_.is_class(object)) return name;
  const std::string inside = contents(object, depth);
  const std::string& type = graph_.classes()[graph_.class_of(object)].name;
  const bool plain = type == "java.lang.String" || contents_.value(address, type).has_value() ||
                     fields_.is_a(graph_.class_of(object), "java.lang.Enum");
  if (plain) return inside;
  if (fields_.is_array(object)) name.insert(name.find('[') + 1, std::to_string(fields_.length(object)));
  return name + " @" + hex(address) + (inside.empty() ? "" : " " + inside);
}

std::vector<GraphField> GraphValues::fields(std::uint32_t object) { return fields(object, 0); }

std::vector<GraphField> GraphValues::fields(std::uint32_t object, int depth) {
  std::vector<GraphField> found;
  if (graph_.is_class(object) || fields_.is_array(object)) return found;
  const HprofObject record = graph_.record(object);
  const std::uint64_t address = graph_.address(object);
  const auto add = [&](std::uint32_t declared, std::uint32_t, const HprofField& each,
                       const ObjectFields::Place& place) {
    const std::uint32_t size = graph_.file().field_size(each.type);
    if (std::uint64_t{place.offset} + size > record.count) return false;
    const std::uint64_t bits = graph_.file().number(record.body + place.offset, size);
    GraphField field{
        .name = graph_.file().text(each.name), .value = {}, .declared_by = graph_.classes()[declared].name};
    // The value of a map's entry is named by its key.
    const bool in_entry = field.name == "value" || field.name == "val";
    const std::uint64_t key = in_entry             ? objects_.reference(address, "key")
                              : field.name == "v0" ? objects_.reference(address, "k0")
                                                   : 0;
    bool masked = false;
    const bool unknown = redacted_ && each.type != kReference && !stays_redacted(field.declared_by, field.name) &&
                         !kept_.keeps(field.declared_by, field.name);
    field.value = unknown ? kRedacted : named(field.name, key, bits, each.type, depth + 1, &masked);
    field.refers = each.type == kReference;
    field.reference = field.refers && !masked ? bits : 0;
    found.push_back(std::move(field));
    return true;
  };
  fields_.each_field(graph_.class_of(object), add);
  return found;
}

}  // namespace jtrace::coreinspect
