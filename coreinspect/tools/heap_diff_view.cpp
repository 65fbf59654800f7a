#include "coreinspect/tools/heap_diff_view.h"

#include <cstdio>

#include "base/name_pattern.h"
#include "base/strings.h"
#include "coreinspect/tools/graph_text.h"

namespace jtrace::coreinspect {
namespace {

GrowthOrder order_of(const std::string& word) {
  if (word == "instances") return GrowthOrder::kObjects;
  if (word == "retained") return GrowthOrder::kRetained;
  return word == "name" ? GrowthOrder::kName : GrowthOrder::kBytes;
}

void write_json(const ClassGrowth& row, JsonWriter& json) {
  json.begin_object().member("class", row.name);
  const auto write = [&](const char* name, const ClassRetained& sum) {
    json.key(name)
        .begin_object()
        .member("instances", sum.objects)
        .member("bytes", sum.shallow)
        .member("retained", sum.retained)
        .end_object();
  };
  json.member("instances", row.objects()).member("bytes", row.bytes()).member("retained", row.retained());
  write("before", row.before);
  write("after", row.after);
  json.end_object();
}

std::string text_of(const ClassGrowth& row) {
  char line[128];
  std::snprintf(line, sizeof line, "%+14lld %14llu %+11lld %11llu %+14lld  ", static_cast<long long>(row.bytes()),
                static_cast<unsigned long long>(row.after.shallow), static_cast<long long>(row.objects()),
                static_cast<unsigned long long>(row.after.objects), static_cast<long long>(row.retained()));
  return line + printable(row.name) + "\n";
}

}  // namespace

ViewResult heap_diff(const HeapTotals& before, const HeapTotals& after, const ViewOptions& options) {
  ViewResult result;
  auto rows = growth(before, after, order_of(options.heap.sort));
  std::erase_if(rows, [&](const ClassGrowth& row) { return !is_chosen(options.heap.filter, row.name); });
  const std::size_t all = rows.size();
  if (const std::size_t most = rows_of(options, options.json ? all : kGraphRows); all > most) rows.resize(most);
  const bool differ = before.shape != after.shape;
  if (options.json) {
    result.members = "\"reachableBefore\":" + std::to_string(before.reachable) +
                     ",\"reachableAfter\":" + std::to_string(after.reachable) +
                     ",\"classesChanged\":" + std::to_string(all) + ",\"layoutsDiffer\":" + (differ ? "true" : "false");
    JsonWriter json(result.out);
    for (const ClassGrowth& row : rows) write_json(row, json);
    return result;
  }
  result.out = std::to_string(after.reachable) + " bytes are reachable, before " + std::to_string(before.reachable) +
               "; " + std::to_string(all) + (all == 1 ? " class has changed\n" : " classes have changed\n");
  if (differ)
    result.out += "the sizes are of different layouts of objects: bytes differ where no object was added or freed\n";
  result.out +=
      "   bytes grown          bytes   instances   instances       retained  class\n"
      "                          now       grown         now          grown\n";
  for (const ClassGrowth& row : rows) result.out += text_of(row);
  return result;
}

}  // namespace jtrace::coreinspect
