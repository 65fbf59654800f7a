// refs CLASS: who refers to the objects of a class, and by which fields the program holds them. Of a heap dump also of
// one object.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/strings.h"
#include "coreinspect/graph/class_choice.h"
#include "coreinspect/graph/class_referrers.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

struct Wanted {
  std::vector<char> is;  // by object
  std::string name;
  std::uint64_t objects = 0, reachable = 0;
  const char* why_none = "";
};

Result<Wanted> wanted_of(const ObjectGraph& graph, const std::string& text, bool subclasses) {
  Wanted wanted{.is = std::vector<char>(graph.size(), 0), .name = text};
  if (parse_address_not_name(text)) {
    JTRACE_ASSIGN_OR_RETURN(const std::uint32_t object, object_at(graph, text));
    wanted.is[object] = 1;
    wanted.objects = 1;
    wanted.reachable = graph.strength(object) == Strength::kGarbage ? 0 : 1;
    wanted.name = object_text(graph, object);
    return wanted;
  }
  JTRACE_ASSIGN_OR_RETURN(const ClassChoice choice, choose_classes(graph, text, subclasses));
  wanted.name = choice.text();
  if (subclasses) wanted.why_none = kNoImplementers;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.is_class(i) || choice.is_chosen[graph.class_of(i)] == 0) continue;
    wanted.is[i] = 1;
    ++wanted.objects;
    wanted.reachable += graph.strength(i) == Strength::kGarbage ? 0 : 1;
  }
  return wanted;
}

// The fields of the program that hold them, over whatever of the JDK is between: for each reference to an object one,
// so an object may have several.
class ProgramFields {
 public:
  ProgramFields(const ObjectGraph& graph, const Wanted& wanted)
      : graph_(graph), wanted_(wanted), paths_(graph), fields_(graph, paths_) {}

  void add(std::uint32_t holder, std::uint32_t object) {
    const std::uint32_t field = fields_.through(holder, object);
    held_.emplace_back(field, object);
    if (!graph_.is_class(holder) && is_array_name(graph_.classes()[graph_.class_of(holder)].name))
      ++arrays_[{graph_.class_of(holder), field}];
  }
  // Most objects first.
  std::vector<std::pair<std::string, std::uint64_t>> rows() {
    for (std::uint32_t i = 0; i < graph_.size(); ++i)
      if (wanted_.is[i] != 0 && graph_.strength(i) != Strength::kGarbage) held_.emplace_back(fields_.of(i), i);
    std::sort(held_.begin(), held_.end());
    held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const auto& each : held_) ++counts[each.first];
    std::vector<std::pair<std::string, std::uint64_t>> rows;
    for (const auto& [field, count] : counts) rows.emplace_back(fields_.name(field), count);
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return rows;
  }
  // Which fields have the arrays of this class: the one with most references, and the number of the others.
  std::pair<std::string, std::size_t> of_arrays(const std::string& type) const {
    std::map<std::uint32_t, std::uint64_t> counts;  // several loaders may have the class
    for (const auto& [key, count] : arrays_)
      if (graph_.classes()[key.first].name == type) counts[key.second] += count;
    if (counts.empty()) return {"", 0};
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return {fields_.name(most->first), counts.size() - 1};
  }

 private:
  const ObjectGraph& graph_;
  const Wanted& wanted_;
  ShortestPaths paths_;
  HolderFields fields_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held_;                // field, object
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> arrays_;  // by class and field: references
};

std::string where(const ReferrerRow& row, const ProgramFields& fields) {
  if (row.kind == "root") return "root: " + row.field;
  if (row.kind == "elements") {
    const auto [field, others] = fields.of_arrays(row.of);
    if (field.empty()) return "elements of " + printable(row.of);
    return "elements of " + printable(row.of) + " of " + printable(field) +
           (others == 0 ? "" : " and " + counted(others, "other field"));
  }
  if (row.kind == "local") return "local variables of " + printable(row.of);
  return (row.kind == "static" ? "static " : "") + printable(row.of + "." + row.field);
}

std::string text_of(const Wanted& wanted, const std::vector<ReferrerRow>& rows, const ProgramFields& fields,
                    const std::vector<std::pair<std::string, std::uint64_t>>& held, std::size_t most) {
  if (wanted.objects == 0) return "no object of " + wanted.name + wanted.why_none + "\n";
  std::string out =
      std::to_string(wanted.objects) + (wanted.objects == 1 ? " object of " : " objects of ") + wanted.name;
  if (wanted.objects > wanted.reachable)
    out += ", " + std::to_string(wanted.objects - wanted.reachable) + " of them garbage";
  out += "\n";
  char line[64];
  out += "  references      holders  by\n";
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    std::snprintf(line, sizeof line, "%12llu %12llu  ", static_cast<unsigned long long>(rows[i].references),
                  static_cast<unsigned long long>(rows[i].holders));
    out += line + where(rows[i], fields) + "\n";
  }
  if (rows.size() > most) out += "... " + std::to_string(rows.size() - most) + " more\n";
  out += "     objects  held by which field of the program\n";
  for (std::size_t i = 0; i < std::min(most, held.size()); ++i) {
    std::snprintf(line, sizeof line, "%12llu  ", static_cast<unsigned long long>(held[i].second));
    out += line + printable(held[i].first) + "\n";
  }
  return out;
}

}  // namespace

Result<ViewResult> graph_refs(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  JTRACE_ASSIGN_OR_RETURN(const Wanted wanted, wanted_of(graph, options.arguments.front(), options.heap.subclasses));
  ProgramFields fields(graph, wanted);
  auto rows =
      find_referrers(graph, wanted.is, [&](std::uint32_t holder, std::uint32_t object) { fields.add(holder, object); });
  const auto held = fields.rows();
  const std::size_t most = rows_of(options, options.json ? std::max(rows.size(), held.size()) : kGraphRows);
  if (!options.json) {
    result.out = text_of(wanted, rows, fields, held, most);
    return result;
  }
  JsonWriter members(result.members);
  result.members = "\"objects\":" + std::to_string(wanted.objects) +
                   ",\"garbage\":" + std::to_string(wanted.objects - wanted.reachable) + ",\"heldBy\":";
  members.begin_array();
  for (std::size_t i = 0; i < std::min(most, held.size()); ++i)
    members.begin_object().member("field", held[i].first).member("objects", held[i].second).end_object();
  members.end_array();
  if (rows.size() > most) rows.resize(most);
  JsonWriter json(result.out);
  for (const ReferrerRow& row : rows)
    json.begin_object()
        .member("kind", row.kind)
        .member("class", row.of)
        .member("field", row.field)
        .member("heldBy", row.kind == "elements" ? fields.of_arrays(row.of).first : "")
        .member("references", row.references)
        .member("holders", row.holders)
        .end_object();
  return result;
}

}  // namespace jtrace::coreinspect
