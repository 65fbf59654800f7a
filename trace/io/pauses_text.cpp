#include "trace/io/pauses_text.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/size_text.h"
#include "base/strings.h"
#include "trace/gc_cause.h"
#include "trace/io/statistics_rows.h"

namespace jtrace::trace::io {
namespace {

std::string heap_text(std::uint64_t bytes) { return bytes == 0 ? "?" : mib_text(bytes); }

template <class... Arguments>
void put_line(std::string& out, const char* format, Arguments... arguments) {
  char text[400];
  std::snprintf(text, sizeof text, format, arguments...);
  out.append(text).append("\n");
}

std::string or_unknown(std::string_view text) { return text.empty() ? "?" : printable(std::string(text)); }

// On average over the trace; "-": not known.
std::string every_text(const ScopeStatistics& statistics, std::uint64_t times) {
  const Scope& scope = *statistics.scope;
  if (times < 2 || scope.length() == 0 || scope.pauses != 0 || statistics.gc_missed != 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(scope.length()) / 1e9 / static_cast<double>(times));
  return text;
}

void causes_text(std::string& out, const ScopeStatistics& statistics) {
  put_line(out, "  %8s %12s %12s %10s  %-12s %s", "TIMES", "IN ALL s", "LONGEST s", "EVERY s", "KIND", "CAUSE");
  for (const CauseRow& row : cause_rows(statistics))
    put_line(out, "  %8llu %12s %12s %10s  %-12s %s", static_cast<unsigned long long>(row.value.count),
             seconds(row.value.total).c_str(), seconds(row.value.longest).c_str(),
             every_text(statistics, row.value.count).c_str(), or_unknown(row.key.second).c_str(),
             or_unknown(row.key.first).c_str());
}

std::string heap_text(const std::optional<std::uint64_t>& bytes) { return heap_text(bytes.value_or(0)); }

// What they free is seen at their end, not at that of a pause.
void collections_text(std::string& out, const ScopeStatistics& statistics, std::size_t rows) {
  if (statistics.collections.empty()) return;
  put_line(out, "  %-12s %10s %10s    %-10s  %10s %7s  %-12s %s", "TIME UTC", "LASTED s", "BEFORE", "AFTER", "HEAP",
           "PAUSES", "KIND", "CAUSE OF THE COLLECTION");
  const Rows<const Collection*> collections = longest_collections(statistics, rows);
  for (const Collection* each : collections)
    put_line(out, "  %-12s %10s %10s -> %-10s  %10s %7llu  %-12s %s",
             time_of_day(each->from != 0 ? each->from : each->to).c_str(),
             each->from != 0 ? seconds(lasted(*each)).c_str() : "-", heap_text(each->before).c_str(),
             heap_text(each->after).c_str(), heap_text(each->total).c_str(),
             static_cast<unsigned long long>(each->pauses), or_unknown(each->kind).c_str(),
             or_unknown(each->cause).c_str());
  out += more_rows(collections.left_out);
}

}  // namespace

std::string pauses_text(const ScopeStatistics& statistics, std::size_t rows) {
  std::string out;
  if (statistics.gc_missed != 0)
    put_line(out, "  %llu more that were not seen: only their number is known",
             static_cast<unsigned long long>(statistics.gc_missed));
  if (statistics.gc.count == 0) {
    collections_text(out, statistics, rows);
    return out;
  }
  causes_text(out, statistics);
  const auto& causes = statistics.gc_causes;
  if (std::any_of(causes.begin(), causes.end(), [](const auto& each) { return each.first.first == kSystemGcCause; }))
    out += recorded_of(statistics).calls
               ? "  who calls System.gc(): of the slow calls below the one that consists of such a "
                 "pause, and nothing else\n"
               : "  " + std::string(kWhoCallsGc) + "\n";
  collections_text(out, statistics, rows);
  const Rows<const GcPause*> pauses = longest_pauses(statistics, rows);
  put_line(out, "  %-12s %10s %10s    %-10s  %10s  %-12s %s", "TIME UTC", "PAUSE s", "BEFORE", "AFTER", "HEAP", "KIND",
           "CAUSE");
  for (const GcPause* pause : pauses)
    put_line(out, "  %-12s %10s %10s -> %-10s  %10s  %-12s %s", time_of_day(pause->start).c_str(),
             seconds(pause->duration).c_str(), heap_text(pause->before).c_str(), heap_text(pause->used).c_str(),
             heap_text(pause->total).c_str(), or_unknown(statistics.pause_texts[pause->kind]).c_str(),
             or_unknown(statistics.pause_texts[pause->cause]).c_str());
  out += more_rows(pauses.left_out);
  if (const std::string note = statistics.scope->late_heap_note(); !note.empty()) out += "  " + note + "\n";
  return out;
}

}  // namespace jtrace::trace::io
