// object: one object of a heap dump, or of a heap that is read already, with its fields or elements, and what it refers
// to.
#include <algorithm>
#include <deque>
#include <set>

#include "base/strings.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_values.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxObjects = 10'000, kElements = 100;

struct Shown {
  std::uint32_t object = kNoObject;
  int depth = 0;
  bool is_array = false, has_statics = false;
  std::uint64_t length = 0;
  std::string contents;                  // of a text, a box, a record, ...
  std::optional<ShownContents> entries;  // of a collection, a map
  std::vector<GraphField> fields;
  std::uint64_t left_out() const { return is_array ? length - std::min<std::uint64_t>(length, fields.size()) : 0; }
};

Shown read(const ObjectGraph& graph, GraphValues& values, std::uint32_t object, int depth, std::size_t elements) {
  const ObjectFields fields(graph);
  Shown shown{.object = object, .depth = depth};
  shown.has_statics = graph.is_class(object);
  shown.is_array = !shown.has_statics && fields.is_array(object);
  if (shown.is_array) shown.length = fields.length(object);
  else if (shown.entries = values.entries(object, elements); !shown.entries) shown.contents = values.contents(object);
  shown.fields = shown.has_statics ? values.statics(object)
                 : shown.is_array  ? values.elements(object, elements)
                                   : values.fields(object);
  return shown;
}

void write_json(JsonWriter& json, const ObjectGraph& graph, const Shown& shown) {
  json.begin_object().member("address", hex(graph.address(shown.object))).member("class", graph.name(shown.object));
  json.member("size", graph.bytes(shown.object)).member("depth", shown.depth);
  json.member("held", to_string(graph.strength(shown.object)));
  if (shown.is_array) json.member("length", shown.length).member("leftOut", shown.left_out());
  if (!shown.contents.empty()) json.member("contents", shown.contents);
  json.key("fields").begin_array();
  for (const GraphField& field : shown.fields) {
    json.begin_object().member("name", field.name).member("value", field.value);
    if (!field.declared_by.empty()) json.member("declaredBy", field.declared_by).member("static", shown.has_statics);
    if (field.refers) json.member("reference", hex(field.reference));
    json.end_object();
  }
  json.end_array();
  if (shown.entries) shown.entries->write(json);
  json.end_object();
}

std::string text_of(const ObjectGraph& graph, const Shown& shown) {
  const std::string indent(static_cast<std::size_t>(shown.depth) * 2, ' ');
  std::string text = indent + printable(graph.name(shown.object)) + " at " + hex(graph.address(shown.object)) + ", " +
                     counted(graph.bytes(shown.object), "byte");
  if (shown.is_array) text += ", " + counted(shown.length, "element");
  if (!shown.contents.empty()) text += ": " + shown.contents;
  if (graph.strength(shown.object) == Strength::kGarbage) text += "  (garbage)";
  text += "\n";
  for (const GraphField& field : shown.fields) {
    text += indent + "  " + (shown.has_statics ? "static " : "") + printable(field.name) + " = " + field.value;
    if (!shown.has_statics && !field.declared_by.empty() && field.declared_by != graph.name(shown.object))
      text += "  (" + printable(field.declared_by) + ")";
    text += "\n";
  }
  if (shown.left_out() > 0)
    text += indent + "  ... " + std::to_string(shown.left_out()) + " more (--rows N shows more)\n";
  if (shown.entries) text += shown.entries->text(indent + "  ");
  return text;
}

// What is shown below it: of a collection what it holds, not the arrays and nodes that hold it.
std::vector<std::uint64_t> references_of(const Shown& shown) {
  std::vector<std::uint64_t> references;
  if (shown.entries)
    for (const ShownContents::Row& row : shown.entries->rows) references.push_back(row.value.reference);
  else
    for (const GraphField& field : shown.fields) references.push_back(field.reference);
  return references;
}

}  // namespace

Result<ViewResult> graph_object(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  JTRACE_ASSIGN_OR_RETURN(const std::uint32_t first, object_at(graph, options.arguments.front()));
  GraphValues values(graph, options.show_secrets);
  JsonWriter json(result.out);
  std::deque<std::pair<std::uint32_t, int>> open{{first, 0}};
  std::set<std::uint32_t> seen{first};
  for (std::size_t count = 0; !open.empty(); open.pop_front()) {
    const auto [object, depth] = open.front();
    if (++count > kMaxObjects) {
      result.missing.push_back("more than " + std::to_string(kMaxObjects) + " objects: the rest is left out");
      break;
    }
    const Shown shown = read(graph, values, object, depth, rows_of(options, kElements));
    if (options.json) write_json(json, graph, shown);
    else result.out += text_of(graph, shown);
    if (depth >= options.heap.depth) continue;
    for (const std::uint64_t reference : references_of(shown)) {
      const std::uint32_t next = reference == 0 ? kNoObject : graph.find(reference);
      if (next != kNoObject && seen.insert(next).second) open.emplace_back(next, depth + 1);
    }
  }
  result.masked = values.masked();
  return result;
}

}  // namespace jtrace::coreinspect
