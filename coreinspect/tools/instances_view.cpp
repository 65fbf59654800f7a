// instances: what the fields of all objects of a class hold, and some of the objects.
#include <algorithm>
#include <set>

#include "base/strings.h"
#include "coreinspect/graph/class_choice.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/tools/field_summary.h"
#include "coreinspect/tools/field_summary_text.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_values.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/secrets.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kObjects = 10;
constexpr std::size_t kFewObjects = 3;  // of fewer, all that there is to know is in the list

struct Found {
  std::vector<std::uint32_t> objects;
  std::uint64_t bytes = 0, garbage = 0;
};

Found find_objects(const ObjectGraph& graph, const ClassChoice& choice) {
  Found found;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.is_class(i) || choice.is_chosen[graph.class_of(i)] == 0) continue;
    found.objects.push_back(i);
    found.bytes += graph.bytes(i);
    found.garbage += graph.strength(i) == Strength::kGarbage ? 1 : 0;
  }
  return found;
}

// Those that have the largest collection, the smallest and the greatest number of a field: whoever looks for what is
// wrong looks at these first.
std::set<std::uint32_t> objects_with_extremes(const ObjectGraph& graph, const FieldSummaries& summaries,
                                              std::size_t most) {
  std::vector<std::uint64_t> addresses;
  for (const FieldSummary& each : summaries.fields)
    if ((each.kind == FieldKind::kCollection || each.kind == FieldKind::kArray) && each.least != each.most)
      addresses.push_back(each.most_at);
  for (const FieldSummary& each : summaries.fields)
    if (each.kind == FieldKind::kNumber && each.values.empty())
      addresses.insert(addresses.end(), {each.least_at, each.most_at});
  std::set<std::uint32_t> objects;
  for (const std::uint64_t address : addresses)
    if (const std::uint32_t object = address == 0 ? kNoObject : graph.find(address);
        object != kNoObject && objects.size() < most)
      objects.insert(object);
  return objects;
}

// Those that are reachable first, lambdas last (they come with a pattern as com.example.*, in numbers), then `chosen`,
// then the larger ones: that is for arrays.
void keep_first(const ObjectGraph& graph, const std::set<std::uint32_t>& chosen, std::vector<std::uint32_t>& objects,
                std::size_t most) {
  std::vector<char> is_lambda;  // by class
  for (const auto& each : graph.classes()) is_lambda.push_back(each.name.find("$$Lambda") == std::string::npos ? 0 : 1);
  const auto order = [&](std::uint32_t object) {
    return std::tuple(graph.strength(object) == Strength::kGarbage, is_lambda[graph.class_of(object)],
                      !chosen.contains(object), ~graph.bytes(object), object);
  };
  const auto end = objects.begin() + static_cast<std::ptrdiff_t>(std::min(most, objects.size()));
  std::partial_sort(objects.begin(), end, objects.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return order(a) < order(b); });
  objects.erase(end, objects.end());
}

// Texts and collections of the JDK have no names of their own: those are secret that a field holds whose name is.
std::vector<char> held_in_secret(const ObjectGraph& graph, const std::vector<std::uint32_t>& objects) {
  const auto is_named_by_holder = [&](std::uint32_t object) {
    return graph.strength(object) != Strength::kGarbage &&
           is_class_of_the_jdk(graph.classes()[graph.class_of(object)].name);
  };
  std::vector<char> secret(objects.size());
  if (std::none_of(objects.begin(), objects.end(), is_named_by_holder)) return secret;
  const ShortestPaths paths(graph);
  HolderFields holders(graph, paths);
  for (std::size_t i = 0; i < objects.size(); ++i)
    secret[i] = is_named_by_holder(objects[i]) && names_secret_holder(holders.name(holders.of(objects[i]))) ? 1 : 0;
  return secret;
}

void write_json(JsonWriter& json, const ObjectGraph& graph, std::uint32_t object, const std::string& contents,
                const std::vector<GraphField>& fields) {
  json.begin_object()
      .member("class", graph.name(object))
      .member("address", hex(graph.address(object)))
      .member("bytes", graph.bytes(object))
      .member("held", to_string(graph.strength(object)));
  if (!contents.empty()) json.member("contents", contents);
  json.key("fields").begin_array();
  for (const GraphField& field : fields) {
    json.begin_object().member("name", field.name).member("value", field.value).member("declaredBy", field.declared_by);
    if (field.refers && field.reference != 0) json.member("reference", hex(field.reference));
    json.end_object();
  }
  json.end_array().end_object();
}

std::string text_of(const ObjectGraph& graph, std::uint32_t object, const std::string& contents,
                    const std::vector<GraphField>& fields) {
  std::string text = object_text(graph, object) + (contents.empty() ? "" : " " + contents) +
                     (graph.strength(object) == Strength::kGarbage ? "  (garbage)" : "") + "\n";
  if (!contents.empty() && graph.name(object).starts_with("java.")) return text;  // that is all it holds
  for (const GraphField& field : fields) {
    text += "  " + printable(field.name) + " = " + field.value;
    if (field.declared_by != graph.name(object)) text += "  (" + printable(field.declared_by) + ")";
    text += "\n";
  }
  return text;
}

std::string heading(const Found& found, const ClassChoice& choice, std::size_t shown, const std::string& summary,
                    bool has_extremes) {
  const std::size_t all = found.objects.size();
  std::string text = counted(all, "object") + " of " + choice.text() + ", " + std::to_string(found.bytes) + " bytes";
  if (found.garbage > 0) text += ", " + std::to_string(found.garbage) + " of them garbage";
  const std::string first = has_extremes ? std::to_string(shown) + " of them, those with the extremes first:"
                                         : "the first " + std::to_string(shown) + ":";
  if (summary.empty()) return text + (all > shown ? "; " + first : "") + "\n";
  return text + "\n" + summary + (all > shown ? first : "each of them:") + "\n";
}

}  // namespace

Result<ViewResult> graph_instances(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  JTRACE_ASSIGN_OR_RETURN(const ClassChoice choice,
                          choose_classes(graph, options.arguments.front(), options.heap.subclasses));
  Found found = find_objects(graph, choice);
  const std::size_t all = found.objects.size(), shown = std::min(all, rows_of(options, kObjects));
  FieldSummaries summaries;
  if (all - found.garbage >= kFewObjects) summaries = summarize_fields(graph, found.objects, options.show_secrets);
  std::set<std::uint32_t> extremes;
  if (all > shown) extremes = objects_with_extremes(graph, summaries, (shown + 1) / 2);
  if (options.json)
    result.members = "\"objects\":" + std::to_string(all) + ",\"bytes\":" + std::to_string(found.bytes) +
                     ",\"garbage\":" + std::to_string(found.garbage) + "," + json_members_of(summaries);
  else if (all == 0)
    result.out = "no object of " + choice.text() + (options.heap.subclasses ? kNoImplementers : "") + "\n";
  else result.out = heading(found, choice, shown, text_of(summaries, found.garbage > 0), !extremes.empty());
  keep_first(graph, extremes, found.objects, shown);
  GraphValues values(graph, options.show_secrets);
  JsonWriter json(result.out);
  const auto secret = values.hides() ? held_in_secret(graph, found.objects) : std::vector<char>(found.objects.size());
  for (std::size_t i = 0; i < found.objects.size(); ++i) {
    const std::uint32_t object = found.objects[i];
    values.hold_in_secret(secret[i] != 0);
    const std::string contents = values.contents(object);
    const auto fields = values.fields(object);
    if (options.json) write_json(json, graph, object, contents, fields);
    else result.out += text_of(graph, object, contents, fields);
  }
  result.masked = values.masked();
  return result;
}

}  // namespace jtrace::coreinspect
