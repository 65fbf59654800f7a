// values: which fields and elements hold a value, and in which objects.
#include <algorithm>
#include <cstdio>

#include "base/name_pattern.h"
#include "base/strings.h"
#include "coreinspect/graph/value_search.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

using Row = std::pair<std::string, ValueSearch::Hits>;

// Those with most objects first.
std::vector<Row> rows_by_count(const ValueSearch& search,
                               const std::map<ValueSearch::Field, ValueSearch::Hits>& found) {
  std::vector<Row> rows;
  for (const auto& [field, hits] : found) rows.emplace_back(search.name(field), hits);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.second.count > b.second.count; });
  return rows;
}

void write_json(JsonWriter& json, const Row& row) {
  json.begin_object().member("field", row.first).member("count", row.second.count).key("objects").begin_array();
  for (const std::uint64_t address : row.second.objects) json.value(hex(address));
  json.end_array().end_object();
}

std::string text_of(const Row& row) {
  char count[16];
  std::snprintf(count, sizeof count, "%12llu  ", static_cast<unsigned long long>(row.second.count));
  std::string text = count + printable(row.first);
  for (std::size_t i = 0; i < row.second.objects.size(); ++i)
    text += (i == 0 ? "; " : ", ") + hex(row.second.objects[i]);
  return text + (row.second.count > row.second.objects.size() && !row.second.objects.empty() ? ", ..." : "") + "\n";
}

}  // namespace

Result<ViewResult> graph_value_search(const ObjectGraph& graph, const ViewOptions& options) {
  if (graph.file().is_redacted())
    return fail(ErrorCategory::kRefused, "the heap dump is redacted: its fields have no values");
  const auto is_meant = [&](const auto& each) { return is_chosen(options.heap.filter, each.name); };
  if (std::none_of(graph.classes().begin(), graph.classes().end(), is_meant))
    return fail(ErrorCategory::kNotFound, "no class matches " + options.heap.filter);
  ViewResult result{.missing = graph.missing()};
  ValueSearch search(graph, WantedValue::of(options.arguments.front()));
  std::vector<Row> rows = rows_by_count(search, search.run(options.heap.filter));
  std::uint64_t all = 0;
  for (const Row& row : rows) all += row.second.count;
  const std::size_t fields = rows.size();
  if (const std::size_t most = rows_of(options, options.json ? rows.size() : kGraphRows); rows.size() > most)
    rows.resize(most);
  if (options.json) {
    result.members = "\"places\":" + std::to_string(all) + ",\"fields\":" + std::to_string(fields);
    JsonWriter json(result.out);
    for (const Row& row : rows) write_json(json, row);
    return result;
  }
  result.out = counted(all, "place") + " with this value, in " + counted(fields, "field") + "\n";
  if (!rows.empty()) result.out += "      places  field; objects that have it\n";
  for (const Row& row : rows) result.out += text_of(row);
  if (fields > rows.size()) result.out += "and " + counted(fields - rows.size(), "field") + " more (--rows 0)\n";
  return result;
}

}  // namespace jtrace::coreinspect
