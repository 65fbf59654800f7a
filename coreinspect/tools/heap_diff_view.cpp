#include "coreinspect/tools/heap_diff_view.h"

#include <algorithm>
#include <cstdio>

#include "base/name_pattern.h"
#include "base/strings.h"
#include "coreinspect/tools/graph_text.h"

namespace jtrace::coreinspect {
namespace {

// The largest number of rows of a JSON document of paths: each row has the names of all above it.
constexpr std::size_t kMostPaths = 2000;

struct Words {
  const char *one, *several, *key;
};
Words words_of(TotalsBy by) {
  switch (by) {
    case TotalsBy::kClass: return {"class has changed", "classes have changed", "classesChanged"};
    case TotalsBy::kPackage: return {"package has changed", "packages have changed", "packagesChanged"};
    case TotalsBy::kLoader:
      return {"kind of class loader has changed", "kinds of class loaders have changed", "loadersChanged"};
    case TotalsBy::kPath: break;
  }
  return {"path has changed", "paths have changed", "pathsChanged"};
}
const char* column_of(TotalsBy by) {
  switch (by) {
    case TotalsBy::kClass: return "class";
    case TotalsBy::kPackage: return "package";
    case TotalsBy::kLoader: return "loader";
    case TotalsBy::kPath: break;
  }
  return "path";
}

// Of a path only what it retains says how much it has grown: its own objects may be few.
GrowthOrder order_of(const std::string& word, TotalsBy by) {
  if (word == "instances") return GrowthOrder::kObjects;
  if (word == "name") return GrowthOrder::kName;
  return word == "retained" || by != TotalsBy::kClass ? GrowthOrder::kRetained : GrowthOrder::kBytes;
}

std::string last_name(const std::string& path) {
  const auto mark = path.rfind(kPathMark);
  return mark == path.npos ? path : path.substr(mark + 1);
}
std::size_t depth_of(const std::string& path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), kPathMark));
}
std::string one_line(std::string path) {
  for (std::size_t at = 0; (at = path.find(kPathMark, at)) != path.npos; at += 3) path.replace(at, 1, " > ");
  return path;
}

void write_json(const HeapGrowth& row, TotalsBy by, JsonWriter& json) {
  json.begin_object().member(column_of(by), one_line(row.name));
  if (by == TotalsBy::kPath) json.member("class", last_name(row.name)).member("depth", depth_of(row.name));
  const auto write = [&](const char* name, const ClassRetained& sum, std::uint64_t members) {
    json.key(name)
        .begin_object()
        .member("instances", sum.objects)
        .member("bytes", sum.shallow)
        .member("retained", sum.retained);
    if (by == TotalsBy::kLoader) json.member("loaders", members);
    json.end_object();
  };
  json.member("instances", row.objects()).member("bytes", row.bytes()).member("retained", row.retained());
  if (by == TotalsBy::kLoader) json.member("loaders", row.members());
  write("before", row.before, row.members_before);
  write("after", row.after, row.members_after);
  json.end_object();
}

std::string text_of(const HeapGrowth& row, TotalsBy by) {
  char line[160];
  // Of classes their own bytes come first, of the others what they retain.
  const bool own = by == TotalsBy::kClass;
  const long long first = own ? row.bytes() : row.retained(), last = own ? row.retained() : row.bytes();
  const unsigned long long now = own ? row.after.shallow : row.after.retained;
  std::snprintf(line, sizeof line, "%+14lld %14llu %+11lld %11llu %+14lld  ", first, now,
                static_cast<long long>(row.objects()), static_cast<unsigned long long>(row.after.objects), last);
  std::string text = line;
  if (by == TotalsBy::kLoader) {
    std::snprintf(line, sizeof line, "%+7lld %7llu  ", static_cast<long long>(row.members()),
                  static_cast<unsigned long long>(row.members_after));
    text += line;
  }
  if (by == TotalsBy::kPath) text += std::string(2 * depth_of(row.name), ' ');
  return text + printable(last_name(row.name)) + "\n";
}

std::string heading(TotalsBy by) {
  switch (by) {
    case TotalsBy::kClass:
      return "   bytes grown          bytes   instances   instances       retained  class\n"
             "                          now       grown         now          grown\n";
    case TotalsBy::kLoader:
      return "      retained       retained   instances   instances          bytes  loaders loaders  class loader\n"
             "         grown            now       grown         now          grown    grown     now\n";
    default:
      return std::string("      retained       retained   instances   instances          bytes  ") +
             (by == TotalsBy::kPath ? "what keeps it" : "package") +
             "\n         grown            now       grown         now          grown\n";
  }
}

}  // namespace

TotalsBy totals_by(const std::string& word) {
  if (word == "package") return TotalsBy::kPackage;
  if (word == "loader") return TotalsBy::kLoader;
  return word == "path" ? TotalsBy::kPath : TotalsBy::kClass;
}

ViewResult heap_diff(const HeapTotals& before, const HeapTotals& after, const ViewOptions& options) {
  ViewResult result;
  const TotalsBy by = after.by;
  auto rows = growth(before, after, order_of(options.heap.sort, by));
  std::erase_if(rows, [&](const HeapGrowth& row) { return !is_chosen(options.heap.filter, last_name(row.name)); });
  const std::size_t all = rows.size();
  const std::size_t most = rows_of(options, !options.json ? kGraphRows : by == TotalsBy::kPath ? kMostPaths : all);
  if (by == TotalsBy::kPath) rows = path_rows(before, after, rows, most);
  else if (all > most) rows.resize(most);
  const bool differ = before.shape != after.shape;
  const std::uint64_t least = std::max(before.least, after.least);
  if (options.json) {
    result.members = "\"reachableBefore\":" + std::to_string(before.reachable) +
                     ",\"reachableAfter\":" + std::to_string(after.reachable) + ",\"" + words_of(by).key +
                     "\":" + std::to_string(all) + ",\"layoutsDiffer\":" + (differ ? "true" : "false");
    if (least > 0) result.members += ",\"smallestPath\":" + std::to_string(least);
    JsonWriter json(result.out);
    for (const HeapGrowth& row : rows) write_json(row, by, json);
    return result;
  }
  result.out = std::to_string(after.reachable) + " bytes are reachable, before " + std::to_string(before.reachable) +
               "; " + std::to_string(all) + " " + (all == 1 ? words_of(by).one : words_of(by).several) + "\n";
  if (differ)
    result.out += "the sizes are of different layouts of objects: bytes differ where no object was added or freed\n";
  if (least > 0) result.out += "a path that keeps less than " + std::to_string(least) + " bytes counts as 0\n";
  result.out += heading(by);
  for (const HeapGrowth& row : rows) result.out += text_of(row, by);
  return result;
}

}  // namespace jtrace::coreinspect
