#include "coreinspect/tools/graph_events.h"

#include <algorithm>

#include "base/primitive_types.h"
#include "base/uuid.h"
#include "trace/byte_sink.h"
#include "trace/io/json_table.h"
#include "trace/option_keys.h"
#include "trace/xml_writer.h"

namespace jtrace::coreinspect {
namespace {

// "java.lang.String[]": "[Ljava/lang/String;".
std::string internal_form(std::string name) {
  std::string arrays;
  for (; name.ends_with("[]"); arrays += '[') name.resize(name.size() - 2);
  const PrimitiveType* primitive = primitive_named(name);
  if (!arrays.empty() && primitive != nullptr) return arrays + primitive->letter;
  std::replace(name.begin(), name.end(), '.', '/');
  return arrays.empty() ? name : arrays + "L" + name + ";";
}

// A text with anything but plain characters in it is quoted as in JSON.
std::string plain(const trace::io::JsonField& field) {
  if (!field.is_text || field.value.find_first_of(" \"=\t\n") == std::string::npos) return field.value;
  std::string quoted;
  JsonWriter(quoted).value(field.value);
  return quoted;
}

Result<> emit(trace::TraceDocument& events, const View& view, const std::vector<trace::io::JsonField>& row) {
  const auto has = [&](std::string_view key) {
    return std::any_of(row.begin(), row.end(), [&](const auto& field) { return field.key == key; });
  };
  const std::string_view amount = has("retained") ? "retained" : "bytes";
  std::string name, bytes = "0", format(view.name);
  for (const auto& field : row) {
    if (&field == &row.front()) name = field.key == "class" ? internal_form(field.value) : field.value;
    else if (field.key == amount) bytes = field.value;
    else format += " " + field.key + "=" + plain(field);
  }
  return events.events().emit(trace::Value{.name = name,
                                           .objIdRef = trace::ObjectId::none(),
                                           .serializationFormat = format,
                                           .type = "LONG",
                                           .value = bytes});
}

}  // namespace

Result<std::string> values_document(const std::string& document, const View& view,
                                    const std::vector<std::string>& missing, SnapshotIdentity identity) {
  JTRACE_ASSIGN_OR_RETURN(const auto rows, trace::io::rows_of_json(document));
  identity.agent_parameters = view.name;
  trace::MemorySink bytes;
  trace::XmlWriter xml(bytes, {.single_trace = true});
  trace::TraceDocument events(xml, true, false);
  JTRACE_RETURN_IF_ERROR(events.begin(identity, identity.time));
  JTRACE_RETURN_IF_ERROR(events.begin_trace(identity.time));
  JTRACE_RETURN_IF_ERROR(events.write_option(trace::kKindKey, trace::kSnapshotKind));
  for (const auto& row : rows)
    if (!row.empty()) JTRACE_RETURN_IF_ERROR(emit(events, view, row));
  for (const std::string& line : missing) JTRACE_RETURN_IF_ERROR(events.write_option(trace::kUnavailableKey, line));
  JTRACE_RETURN_IF_ERROR(events.end_trace(identity.time));
  JTRACE_RETURN_IF_ERROR(events.end(identity.time));
  JTRACE_RETURN_IF_ERROR(xml.finish());
  return std::string(bytes.text());
}

SnapshotIdentity identity_of_dump(const ObjectGraph& graph) {
  const HprofFile& file = graph.file();
  const std::string source = "heap dump:" + std::to_string(file.millis()) + ":" + std::to_string(file.size());
  SnapshotIdentity identity;
  identity.node_id = name_based_uuid("node:" + source);
  identity.process_id = name_based_uuid("process:" + source);
  identity.agent_id = random_uuid();
  identity.agent_name = "jtrace inspect";
  identity.agent_version = JTRACE_VERSION;
  identity.time = file.millis() * 1'000'000;
  return identity;
}

}  // namespace jtrace::coreinspect
