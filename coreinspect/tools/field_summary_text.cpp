#include "coreinspect/tools/field_summary_text.h"

#include "base/json.h"
#include "base/strings.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kShownTypes = 3;

std::string at_address(std::uint64_t address) { return " @" + hex(address); }

// "400 different texts", "more than 100000 different texts".
std::string different_ones(const FieldSummary& field, std::string_view what) {
  return (field.more_different ? "more than " : "") + std::to_string(field.different) + " different " +
         std::string(what);
}

// "java.util.ArrayList", "java.util.ArrayList and 2 other classes".
std::string type_of(const FieldSummary& field) {
  if (field.types.empty()) return "";
  std::string text = printable(field.types.front().name);
  const std::size_t others = field.types.size() - 1;
  return others == 0 ? text : text + " and " + counted(others, "other class", "other classes");
}

// An odd value is one that a single object has: which one, is the next question.
std::string values_of(const FieldSummary& field) {
  const auto& values = field.values;
  if (values.size() == 1 && field.different == 1 && field.nulls == 0 && field.read == 0)
    return values.front().text + " in all";
  std::string text;
  for (const FieldSummary::Value& each : values) {
    text += (text.empty() ? "" : ", ") + each.text + " in " + std::to_string(each.count);
    if (each.count == 1) text += at_address(each.at);
  }
  if (field.more_different) return text + ", more than " + std::to_string(field.different) + " values in all";
  if (field.different > values.size()) text += ", " + counted(field.different - values.size(), "more value");
  return text;
}

std::string sizes_of(const FieldSummary& field) {
  const char* const unit = field.kind == FieldKind::kArray ? "element" : "entry";
  const char* const units = field.kind == FieldKind::kArray ? "elements" : "entries";
  if (field.least == field.most)
    return type_of(field) + " with " + field.most + " " + (field.most == "1" ? unit : units) + " each";
  return type_of(field) + " with " + field.least + " to " + field.most + " " + units + ", most in" +
         at_address(field.most_at);
}

std::string types_of(const FieldSummary& field) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownTypes, field.types.size()); ++i)
    text += (i == 0 ? "" : ", ") + printable(field.types[i].name) + " in " + std::to_string(field.types[i].count);
  if (field.types.size() > kShownTypes)
    text += ", " + counted(field.types.size() - kShownTypes, "more class", "more classes");
  return text;
}

// That each has its own says nothing.
std::string references_of(const FieldSummary& field) {
  if (field.values.size() == 1 && field.values.front().count > 1)
    return "one and the same " + field.values.front().text;
  if (!field.more_different && field.different + field.nulls >= field.objects) return "";
  return different_ones(field, "objects of ") + type_of(field);
}

std::string contents_of(const FieldSummary& field) {
  switch (field.kind) {
    case FieldKind::kNumber:
      if (field.values.empty() && !field.least.empty())
        return field.least + at_address(field.least_at) + " to " + field.most + at_address(field.most_at) + ", " +
               different_ones(field, "values");
      return values_of(field);
    case FieldKind::kValue: return field.values.empty() ? different_ones(field, "values") : values_of(field);
    case FieldKind::kText: return field.values.empty() ? different_ones(field, "texts") : values_of(field);
    case FieldKind::kCollection:
    case FieldKind::kArray: return field.least.empty() ? type_of(field) : sizes_of(field);
    case FieldKind::kReference: return references_of(field);
    case FieldKind::kMixed: return types_of(field);
  }
  return "";
}

std::string line_of(const FieldSummary& field) {
  if (field.objects == 0) return "";
  if (field.nulls == field.objects) return "null in all";
  std::string text = contents_of(field);
  if (field.nulls > 0) text += (text.empty() ? "" : ", ") + std::string("null in ") + std::to_string(field.nulls);
  if (field.read > 0) text += "; of the first " + std::to_string(field.read);
  return text;
}

// JSON has no NaN and no infinity.
void write_number(JsonWriter& json, const std::string& text) {
  const char last = text.empty() ? 'y' : text.back();
  if (last == 'y' || last == 'N') json.value(text);
  else json.json(text);
}

void write_field(JsonWriter& json, const FieldSummary& field) {
  json.begin_object()
      .member("name", field.name)
      .member("declaredBy", field.declared_by)
      .member("kind", to_string(field.kind))
      .member("objects", field.objects)
      .member("nulls", field.nulls);
  if (!field.least.empty()) {
    write_number(json.key("least"), field.least);
    write_number(json.key("most"), field.most);
    json.member("leastAt", hex(field.least_at)).member("mostAt", hex(field.most_at));
  }
  if (field.different > 0) json.member("different", field.different).member("moreDifferent", field.more_different);
  if (field.read > 0) json.member("read", field.read);
  json.key("values").begin_array();
  for (const FieldSummary::Value& each : field.values)
    json.begin_object().member("value", each.text).member("count", each.count).member("at", hex(each.at)).end_object();
  json.end_array().key("classes").begin_array();
  for (const FieldSummary::Type& each : field.types)
    json.begin_object().member("class", each.name).member("count", each.count).end_object();
  json.end_array().end_object();
}

}  // namespace

std::string text_of(const FieldSummaries& summaries, bool some) {
  std::string text;
  for (const FieldSummary& field : summaries.fields) {
    const std::string line = line_of(field);
    if (line.empty()) continue;
    text += "    " + printable(field.name) + ": " + line;
    if (field.objects < summaries.objects) text += "  (" + printable(field.declared_by) + ")";
    text += "\n";
  }
  for (const std::string& name : summaries.masked) text += "    " + printable(name) + ": masked (--show-secrets)\n";
  if (summaries.left_out > 0) text += "    " + counted(summaries.left_out, "more field") + "\n";
  if (text.empty()) return "";
  return (some ? "  fields of the " + std::to_string(summaries.objects) + " that are reachable:\n"
               : std::string("  fields of all of them:\n")) +
         text;
}

std::string json_members_of(const FieldSummaries& summaries) {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const FieldSummary& field : summaries.fields) write_field(json, field);
  json.end_array();
  std::string masked;
  JsonWriter names(masked);
  names.begin_array();
  for (const std::string& name : summaries.masked) names.value(name);
  names.end_array();
  return "\"fieldSummary\":" + text + ",\"maskedFields\":" + masked;
}

}  // namespace jtrace::coreinspect
