// paths: the way from a root to an object, or for a class to one of each group of its objects: those that the same
// field of the program holds.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/graph/class_choice.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kPaths = 3;
constexpr std::size_t kLongPath = 40, kPathEnd = 15;  // steps: of a longer path both ends are shown

// Objects of a class that one field holds.
struct Group {
  std::uint32_t field = 0;            // of HolderFields
  std::uint32_t largest = kNoObject;  // the one that retains most
  std::uint64_t objects = 0, retained = 0;
};

struct Groups {
  std::vector<Group> all;  // those that retain most first
  std::uint64_t objects = 0;
  std::size_t shown = 0;
};

Result<Groups> groups_of(const ObjectGraph& graph, HolderFields& fields, const std::string& text) {
  JTRACE_ASSIGN_OR_RETURN(const ClassChoice choice, choose_classes(graph, text));
  const HeapTree tree(graph);
  Groups groups;
  std::unordered_map<std::uint32_t, std::uint32_t> number_of;  // by field
  std::vector<std::uint32_t> of_object(graph.size(), kNoObject);
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (choice.is_chosen[graph.class_of(i)] == 0 || tree.retained(i) == 0) continue;
    const std::uint32_t field = fields.of(i);
    const auto [known, is_new] = number_of.emplace(field, static_cast<std::uint32_t>(groups.all.size()));
    if (is_new) groups.all.push_back({.field = field, .largest = i});
    Group& group = groups.all[of_object[i] = known->second];
    ++group.objects;
    ++groups.objects;
    if (tree.retained(i) > tree.retained(group.largest)) group.largest = i;
  }
  if (groups.all.empty()) return fail(ErrorCategory::kNotFound, "no object of " + choice.text() + " is reachable");
  const auto sums = tree.by_group(of_object, groups.all.size());
  for (std::size_t i = 0; i < sums.size(); ++i) groups.all[i].retained = sums[i].retained;
  std::stable_sort(groups.all.begin(), groups.all.end(),
                   [](const Group& a, const Group& b) { return a.retained > b.retained; });
  return groups;
}

Result<Groups> wanted(const ObjectGraph& graph, HolderFields& fields, const ViewOptions& options) {
  const std::string& text = options.arguments.front();
  if (parse_address_not_name(text)) {
    JTRACE_ASSIGN_OR_RETURN(const std::uint32_t object, object_at(graph, text));
    return Groups{.all = {{.largest = object, .objects = 1}}, .objects = 1, .shown = 1};
  }
  JTRACE_ASSIGN_OR_RETURN(Groups groups, groups_of(graph, fields, text));
  groups.shown = std::min(rows_of(options, kPaths), groups.all.size());
  return groups;
}

std::string path_text(const ObjectGraph& graph, const ShortestPaths& paths, std::uint32_t object) {
  const auto steps = paths.to(object);
  std::string text = object_text(graph, object);
  if (steps.empty()) return text + " is garbage: no way leads to it\n";
  text += graph.strength(object) == Strength::kStrong
              ? " is held by\n"
              : ", only by a " + std::string(to_string(graph.strength(object))) + " reference, is held by\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kLongPath && i == kPathEnd) {
      text += "      ... " + std::to_string(steps.size() - 2 * kPathEnd) + " more\n";
      i = steps.size() - kPathEnd;
    }
    text += i == 0 ? "  " : "    " + printable(steps[i].edge) + " ";
    text += object_text(graph, steps[i].object);
    text += i == 0 ? "  (" + paths.root_name(steps[i].object) + ")\n" : "\n";
  }
  return text;
}

std::string heading(const Groups& groups, const Group& group, const HolderFields& fields) {
  if (groups.objects == 1) return "";
  return std::to_string(group.objects) + " of " + counted(groups.objects, "object") +
         (group.objects == 1 ? " is held by " : " are held by ") + printable(fields.name(group.field)) +
         (group.objects == 1 ? " and keeps " : " and keep ") + counted(group.retained, "byte") +
         (group.objects == 1 ? ":\n" : ", such as\n");
}

std::string rest(const Groups& groups) {
  if (groups.shown == groups.all.size()) return "";
  std::uint64_t objects = 0;
  for (std::size_t i = groups.shown; i < groups.all.size(); ++i) objects += groups.all[i].objects;
  const std::size_t fields = groups.all.size() - groups.shown;
  return "... " + counted(objects, "more object") + (objects == 1 ? " is held by " : " are held by ") +
         counted(fields, "other field") + "\n";
}

void write_path(JsonWriter& json, const ObjectGraph& graph, const ShortestPaths& paths, std::uint32_t object) {
  const auto steps = paths.to(object);
  json.member("object", hex(graph.address(object))).member("class", graph.name(object));
  json.member("held", to_string(graph.strength(object))).key("path").begin_array();
  for (const ShortestPaths::Step& step : steps) {
    json.begin_object().member("class", graph.name(step.object)).member("address", hex(graph.address(step.object)));
    if (!step.edge.empty()) json.member("field", step.edge);
    json.end_object();
  }
  json.end_array().member("root", steps.empty() ? "" : paths.root_name(steps.front().object));
}

}  // namespace

Result<ViewResult> graph_paths(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  const ShortestPaths paths(graph);
  HolderFields fields(graph, paths);
  JTRACE_ASSIGN_OR_RETURN(const Groups groups, wanted(graph, fields, options));
  const bool of_class = groups.all.front().retained > 0;
  JsonWriter json(result.out);
  for (std::size_t i = 0; i < groups.shown; ++i) {
    const Group& group = groups.all[i];
    if (!options.json) {
      result.out += heading(groups, group, fields) + path_text(graph, paths, group.largest);
      continue;
    }
    json.begin_object();
    write_path(json, graph, paths, group.largest);
    if (of_class)
      json.member("heldBy", fields.name(group.field))
          .member("objects", group.objects)
          .member("retained", group.retained);
    json.end_object();
  }
  if (!options.json) result.out += rest(groups);
  else if (of_class)
    result.members =
        "\"objects\":" + std::to_string(groups.objects) + ",\"fields\":" + std::to_string(groups.all.size());
  return result;
}

}  // namespace jtrace::coreinspect
