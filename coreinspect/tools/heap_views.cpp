// Views of the heap as a whole: histogram, regions, heap.
#include "coreinspect/tools/heap_views.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/clock.h"
#include "base/name_pattern.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "coreinspect/gc/histogram.h"
#include "coreinspect/hprof/vm_roots.h"
#include "coreinspect/model/class_facts.h"

namespace jtrace::coreinspect {
namespace {

// Without --max-stop: a heap dump that the JVM itself writes stops it for longer.
constexpr std::chrono::milliseconds kCopyStop{2000};

std::vector<HistogramRow> rows_of(HeapAccess& access, const HeapHistogram& histogram, const HeapOptions& options) {
  Loaders loaders(access.inspection());
  std::vector<HistogramRow> rows;
  for (std::uint32_t i = 0; i < histogram.counts.size() && i < access.klasses().size(); ++i) {
    if (histogram.counts[i].instances == 0) continue;
    const KlassInfo& info = access.klasses().at(i);
    HistogramRow row{.klass = info.klass,
                     .name = access.inspection().classes().name(info.klass).value_or("?"),
                     .loader = "",
                     .count = histogram.counts[i]};
    if (!is_chosen(options.filter, row.name)) continue;
    if (options.by_loader) {
      const Loader& loader = loaders.of(info.klass);
      row.loader = loader.name + (loader.object == 0 ? "" : " @" + hex(loader.object));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void sort_rows(std::vector<HistogramRow>& rows, const std::string& by) {
  std::sort(rows.begin(), rows.end(), [&](const HistogramRow& a, const HistogramRow& b) {
    if (by == "name") return std::tie(a.name, a.klass) < std::tie(b.name, b.klass);
    const auto key = [&](const HistogramRow& row) { return by == "instances" ? row.count.instances : row.count.bytes; };
    if (key(a) != key(b)) return key(a) > key(b);
    return std::tie(a.name, a.klass) < std::tie(b.name, b.klass);
  });
}

std::string line_of(const char* format, std::uint64_t first, std::uint64_t second, std::uint64_t third,
                    const std::string& text) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, format, static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second), static_cast<unsigned long long>(third));
  return numbers + text + "\n";
}

std::string millis(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(time.count()) / 1e6);
  return text;
}

std::string way_text(const HeapAccess& access, std::uint64_t changed) {
  const std::string tries = access.tries() > 1 ? ", tried " + counted(access.tries(), "time") : "";
  if (access.runs()) {
    std::string text = "read while the JVM ran, which may have changed it meanwhile";
    if (changed != 0) text += "; " + size_text(changed) + " of it went to other regions, or were collected";
    text += "\n";
    if (!access.why_running().empty()) text += "not stopped" + tries + ": " + printable(access.why_running()) + "\n";
    return text;
  }
  if (access.pause().count() == 0) return {};
  return "the JVM was stopped for " + millis(access.pause()) + " (expected " + millis(access.estimate()) + tries +
         ")\n";
}

// What a walk skipped, and how a live JVM was read.
std::string walk_text(const HeapAccess& access, const WalkTotals& totals, std::uint64_t changed) {
  std::string text = "walked " + std::to_string(access.layout().used()) + " bytes: " + std::to_string(totals.bytes) +
                     " in objects, " + std::to_string(totals.holes) + " in allocation buffers, " +
                     std::to_string(totals.free) + " free between objects";
  if (totals.forwarded > 0) text += ", " + std::to_string(totals.forwarded) + " copied away";
  if (totals.unparsable + totals.unreadable > 0)
    text +=
        ", " + std::to_string(totals.unparsable) + " unparsable, " + std::to_string(totals.unreadable) + " unreadable";
  text += "\n";
  return text + way_text(access, changed);
}

}  // namespace

unsigned threads_of(const HeapOptions& options) {
  return options.threads > 0 ? options.threads : default_heap_threads();
}

void append_walk_members(std::string& members, const HeapAccess& access, const WalkTotals& totals,
                         std::uint64_t changed, std::chrono::nanoseconds walk) {
  std::string text;
  JsonWriter json(text);
  json.begin_object()
      .member("collector", access.layout().collector)
      .member("objects", totals.objects)
      .member("bytes", totals.bytes)
      .member("holeBytes", totals.holes)
      .member("freeBytes", totals.free)
      .member("forwardedBytes", totals.forwarded)
      .member("unparsableBytes", totals.unparsable)
      .member("unreadableBytes", totals.unreadable)
      .member("changedBytes", changed)
      .member("pauseMicros", access.pause().count() / 1000)
      .member("expectedMicros", access.runs() ? 0 : access.estimate().count() / 1000)
      .member("walkMicros", walk.count() / 1000)
      .member("mode", access.runs()                         ? "running"
                      : access.inspection().target().core() ? "core"
                                                            : "stopped")
      .member("tries", access.tries());
  if (!access.why_running().empty()) json.member("whyRunning", access.why_running());
  json.end_object();
  members += "\"heap\":" + text;
}

Result<std::unique_ptr<HeapAccess>> open_heap(Inspection& inspection, const ViewOptions& options, bool stacks) {
  // Results that combine several places, stacks and references, would be inconsistent if they were read while it runs:
  // without a bound of the user's the heap of some GB must pass.
  const bool longer = stacks && !options.heap.max_stop_given;
  return HeapAccess::open(inspection, {.no_stop = options.heap.no_stop,
                                       .max_stop = longer ? std::max(options.max_stop, kCopyStop) : options.max_stop,
                                       .or_running = !stacks,
                                       .strict = options.heap.max_stop_given,
                                       .stacks = stacks,
                                       .roots = stacks ? [&] { read_roots(inspection); } : std::function<void()>()});
}

Result<HistogramTable> take_histogram_table(HeapAccess& access, const HeapOptions& options) {
  const std::uint64_t start = monotonic_ns();
  JTRACE_ASSIGN_OR_RETURN(HeapHistogram histogram, take_histogram(access, threads_of(options), options.progress));
  const std::chrono::nanoseconds walk(monotonic_ns() - start);
  HistogramTable table{.rows = rows_of(access, histogram, options),
                       .totals = histogram.totals,
                       .changed = histogram.changed_bytes,
                       .moved = histogram.moved,
                       .walk = walk};
  sort_rows(table.rows, options.sort);
  return table;
}

std::vector<std::string> faults_of(const HistogramTable& table) {
  std::vector<std::string> lines = walk_faults(table.totals);
  if (table.moved)
    lines.emplace_back("objects may have moved while the heap was read: counts can be too small or too large");
  return lines;
}

Result<ViewResult> view_histogram(Inspection& inspection, const ViewOptions& options) {
  if (options.heap.reachable) return view_reachable(inspection, options);
  JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection, options, false));
  JTRACE_ASSIGN_OR_RETURN(HistogramTable table, take_histogram_table(*access, options.heap));
  ViewResult result;
  result.missing = access->missing();
  for (std::string& line : faults_of(table)) result.missing.push_back(std::move(line));
  ClassCount sum;
  for (const HistogramRow& row : table.rows) {
    sum.instances += row.count.instances;
    sum.bytes += row.count.bytes;
  }
  if (options.heap.top > 0 && table.rows.size() > options.heap.top) table.rows.resize(options.heap.top);
  if (options.json) {
    JsonWriter json(result.out);
    for (const HistogramRow& row : table.rows) {
      json.begin_object()
          .member("class", row.name)
          .member("instances", row.count.instances)
          .member("bytes", row.count.bytes);
      if (options.heap.by_loader) json.member("loader", row.loader);
      json.end_object();
    }
    append_walk_members(result.members, *access, table.totals, table.changed, table.walk);
    return result;
  }
  std::size_t number = 0;
  result.out = " num     #instances         #bytes  class name\n";
  for (const HistogramRow& row : table.rows)
    result.out += line_of("%4llu: %14llu %14llu  ", ++number, row.count.instances, row.count.bytes,
                          printable(row.name) + (row.loader.empty() ? "" : " (" + printable(row.loader) + ")"));
  result.out += line_of("Total %14llu %14llu%.0llu\n", sum.instances, sum.bytes, 0, "");
  result.out += walk_text(*access, table.totals, table.changed);
  return result;
}

Result<ViewResult> view_regions(Inspection& inspection, const ViewOptions& options) {
  ViewResult result;
  JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection, options, false));
  JTRACE_ASSIGN_OR_RETURN(const auto walks, walk_each_region(*access, threads_of(options.heap), options.heap.progress));
  result.missing = access->missing();
  WalkTotals totals;
  JsonWriter json(result.out);
  if (!options.json) result.out = "           start              end       used  unparsable  type\n";
  for (std::size_t i = 0; i < walks.size(); ++i) {
    const HeapRegion& region = access->layout().regions[i];
    const std::uint64_t lost = walks[i].unparsable + walks[i].unreadable;
    totals += walks[i];
    if (options.json)
      json.begin_object()
          .member("start", hex(region.start))
          .member("end", hex(region.end))
          .member("type", region.type)
          .member("used", region.used())
          .member("unparsable", lost)
          .member("objects", walks[i].objects)
          .end_object();
    else
      result.out += line_of(
          "%#16llx %#16llx %10llu", region.start, region.end, region.used(),
          line_of("  %10llu%.0llu%.0llu  ", lost, 0, 0, std::string(region.type)).substr(0, 14 + region.type.size()));
  }
  for (const std::string& line : walk_faults(totals)) result.missing.push_back(line);
  if (options.json) append_walk_members(result.members, *access, totals, 0);
  return result;
}

Result<ViewResult> view_heap(Inspection& inspection, const ViewOptions& options) {
  const Vm& vm = inspection.vm();
  if (vm.cached_memory()) vm.cached_memory()->forget();
  JTRACE_ASSIGN_OR_RETURN(const HeapLayout layout, read_heap_layout(vm));
  struct Sum {
    std::uint64_t regions = 0, bytes = 0, used = 0;
  };
  std::vector<std::pair<std::string_view, Sum>> sums;
  const auto add = [&](std::string_view type, const HeapRegion& region) {
    auto at = std::find_if(sums.begin(), sums.end(), [&](const auto& entry) { return entry.first == type; });
    if (at == sums.end()) at = sums.insert(sums.end(), {type, {}});
    ++at->second.regions;
    at->second.bytes += region.end - region.start;
    at->second.used += region.used();
  };
  for (const HeapRegion& region : layout.regions) add(region.type, region);
  for (const HeapRegion& region : layout.regions) add("total", region);
  std::uint64_t holes = 0;
  for (const AddressRange& hole : layout.holes) holes += hole.end - hole.start;
  const VmFlag* max = vm.flag("MaxHeapSize");
  const auto limit = max ? parse_decimal<std::uint64_t>(max->value) : std::nullopt;
  ViewResult result;
  result.missing = layout.missing;
  if (options.json) {
    JsonWriter json(result.out);
    for (const auto& [type, sum] : sums)
      json.begin_object()
          .member("space", type)
          .member("regions", sum.regions)
          .member("size", sum.bytes)
          .member("used", sum.used)
          .end_object();
    JsonWriter members(result.members);
    members.begin_object();
    members.member("collector", layout.collector).member("collections", layout.collections).member("holeBytes", holes);
    if (layout.region_size > 0) members.member("regionSize", layout.region_size);
    if (limit) members.member("maxSize", *limit);
    members.end_object();
    result.members = "\"heap\":" + result.members;
    return result;
  }
  result.out = std::string(layout.collector) + ", " + counted(layout.collections, "collection");
  if (layout.region_size > 0) result.out += ", regions of " + size_text(layout.region_size);
  if (limit) result.out += ", at most " + size_text(*limit);
  result.out += "\nregions           size           used  space\n";
  for (const auto& [type, sum] : sums)
    result.out += line_of("%7llu %14llu %14llu  ", sum.regions, sum.bytes, sum.used, std::string(type));
  result.out += std::to_string(holes) + " bytes of the used ones are in allocation buffers of threads\n";
  return result;
}

}  // namespace jtrace::coreinspect
