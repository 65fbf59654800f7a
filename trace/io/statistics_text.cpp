// The output of jtrace stats.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "base/strings.h"
#include "trace/io/exceptions_text.h"
#include "trace/io/slow_text.h"
#include "trace/io/statistics.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

std::string seconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(ns) / 1e9);
  return text;
}
double as_seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

template <class Row, class Map, class Less>
std::vector<Row> sorted(const Map& map, Less less, std::size_t rows) {
  std::vector<Row> all;
  for (const auto& [key, value] : map) all.push_back({key, value});
  std::stable_sort(all.begin(), all.end(), less);
  if (all.size() > rows) all.resize(rows);
  return all;
}

template <class Key, class Value>
struct Row {
  Key key;
  Value value;
};
using ThreadRow = Row<std::uint64_t, ThreadStatistics>;
using MethodRow = Row<std::uint64_t, MethodStatistics>;
using ClassRow = Row<std::string, Allocated>;
using MonitorRow = Row<std::string, Waits>;
using HeapRow = Row<std::string, Amount>;
using CounterRow = Row<std::string, CounterSeries>;
using PairRow = Row<std::pair<std::uint64_t, std::uint64_t>, Waits>;

std::vector<ThreadRow> thread_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<ThreadRow>(
      statistics.threads,
      [](const ThreadRow& a, const ThreadRow& b) {
        return std::pair(b.value.events, a.key) < std::pair(a.value.events, b.key);
      },
      rows);
}
std::vector<MethodRow> method_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<MethodRow>(
      statistics.methods,
      [](const MethodRow& a, const MethodRow& b) {
        return std::tuple(b.value.self, b.value.calls, b.value.counted, a.key) <
               std::tuple(a.value.self, a.value.calls, a.value.counted, b.key);
      },
      rows);
}
std::vector<ClassRow> allocated_rows(const std::map<std::string, Allocated>& table, std::size_t rows) {
  return sorted<ClassRow>(
      table, [](const ClassRow& a, const ClassRow& b) { return a.value.bytes > b.value.bytes; }, rows);
}
std::uint64_t rounded(double amount) { return static_cast<std::uint64_t>(std::llround(amount)); }
std::vector<HeapRow> heap_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<HeapRow>(
      statistics.heap, [](const HeapRow& a, const HeapRow& b) { return a.value.bytes > b.value.bytes; }, rows);
}
// Counters that changed come first.
std::vector<CounterRow> counter_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<CounterRow>(
      statistics.counters,
      [](const CounterRow& a, const CounterRow& b) {
        return (a.value.least != a.value.greatest) > (b.value.least != b.value.greatest);
      },
      rows);
}
std::vector<const GcPause*> longest_pauses(const ScopeStatistics& statistics, std::size_t rows) {
  std::vector<const GcPause*> pauses;
  for (const GcPause& pause : statistics.pauses) pauses.push_back(&pause);
  std::stable_sort(pauses.begin(), pauses.end(),
                   [](const GcPause* a, const GcPause* b) { return a->duration > b->duration; });
  if (pauses.size() > rows) pauses.resize(rows);
  return pauses;
}
template <class R>
std::vector<R> wait_rows(const auto& map, std::size_t rows) {
  return sorted<R>(
      map, [](const R& a, const R& b) { return a.value.total > b.value.total; }, rows);
}

class TextView {
 public:
  TextView(const Statistics& statistics, std::size_t rows) : statistics_(statistics), rows_(rows) {}
  std::string text() {
    head();
    for (const std::string& process : statistics_.process_ids()) of_process(process);
    return out_;
  }

 private:
  template <class... Arguments>
  void line(const char* format, Arguments... arguments) {
    char text[1024];
    std::snprintf(text, sizeof text, format, arguments...);
    out_ += text;
    out_ += '\n';
  }
  void head() {
    line("%llu events", static_cast<unsigned long long>(statistics_.events()));
    for (const ElementInfo& element : kElements)
      if (const std::uint64_t count = statistics_.total(element.kind); count != 0)
        line("  %12llu  %s", static_cast<unsigned long long>(count), std::string(element.name).c_str());
    for (const ScopeStatistics& each : statistics_.by_scope()) {
      if (each.scope == nullptr) continue;
      const Scope& scope = *each.scope;
      line("\nproducer %s%s of process %llu %s%s%s%s", printable(scope.agent_name).c_str(),
           scope.snapshot ? " (snapshot)" : "", static_cast<unsigned long long>(scope.pid),
           printable(scope.process_name).c_str(), scope.hostname.empty() ? "" : " on ",
           printable(scope.hostname).c_str(), scope.agent_id.empty() ? " (no agentCreate)" : "");
      line("  %llu events, from %s to %s, %s s", static_cast<unsigned long long>(each.events()),
           seconds(each.first).c_str(), seconds(each.last).c_str(), seconds(each.last - each.first).c_str());
      if (scope.dropped != 0) line("  lost: %llu events", static_cast<unsigned long long>(scope.dropped));
      if (each.gaps != 0)
        line("  gaps: %llu, %s s of all threads together: what was open there counts until then",
             static_cast<unsigned long long>(each.gaps), seconds(each.gap_time).c_str());
    }
    const CallStacks& calls = statistics_.calls();
    if (calls.unmatched_exits() + calls.closed_by_others() + calls.closed_at_end() + calls.closed_by_gaps() != 0)
      line(
          "\ncalls: %llu exits without entry, %llu frames left without exit, %llu open at the end, %llu open where "
          "events were lost",
          static_cast<unsigned long long>(calls.unmatched_exits()),
          static_cast<unsigned long long>(calls.closed_by_others()),
          static_cast<unsigned long long>(calls.closed_at_end()),
          static_cast<unsigned long long>(calls.closed_by_gaps()));
  }
  const ScopeStatistics* section(const std::string& process, Family family) {
    const ScopeStatistics* chosen = statistics_.chosen(process, family);
    if (chosen == nullptr) return nullptr;
    line("\n%s (by %s)", std::string(family_name(family)).c_str(), printable(chosen->scope->agent_name).c_str());
    return chosen;
  }
  void of_process(const std::string& process) {
    if (const auto* gc = section(process, Family::kGc)) pauses_of(*gc);
    if (const auto* threads = section(process, Family::kThreads)) threads_of(*threads);
    if (const auto* monitors = section(process, Family::kMonitors)) monitors_of(*monitors);
    if (const auto* calls = section(process, Family::kCalls)) calls_of(*calls);
    if (const auto* exceptions = section(process, Family::kExceptions)) out_ += exceptions_of(*exceptions, rows_);
    if (const auto* allocations = section(process, Family::kAllocations)) allocations_of(*allocations);
    if (const auto* heap = section(process, Family::kHeap)) {
      line("  %14s %12s  %s", "BYTES", "INSTANCES", "CLASS");
      for (const HeapRow& row : heap_rows(*heap, rows_))
        line("  %14llu %12llu  %s", static_cast<unsigned long long>(row.value.bytes),
             static_cast<unsigned long long>(row.value.count), printable(row.key).c_str());
    }
    if (const auto* counters = section(process, Family::kCounters)) counters_of(*counters);
    if (const auto* stacks = section(process, Family::kStacks)) stacks_of(*stacks);
  }
  void pauses_of(const ScopeStatistics& statistics) {
    line("  %llu pauses, %s s in all, longest %s s", static_cast<unsigned long long>(statistics.gc.count),
         seconds(statistics.gc.total).c_str(), seconds(statistics.gc.longest).c_str());
    line("  %12s %14s %14s  %s", "PAUSE s", "USED AFTER", "HEAP", "AT s (since the trace began)");
    for (const GcPause* pause : longest_pauses(statistics, rows_))
      line("  %12s %14s %14s  %s", seconds(pause->duration).c_str(), known(pause->used).c_str(),
           known(pause->total).c_str(), seconds(pause->start - std::min(pause->start, statistics.first)).c_str());
  }
  static std::string known(std::uint64_t bytes) { return bytes == 0 ? "?" : std::to_string(bytes); }
  void allocations_of(const ScopeStatistics& statistics) {
    if (const std::string note = statistics.allocation_note(); !note.empty()) line("  %s", note.c_str());
    const auto table = [&](const char* what, const std::map<std::string, Allocated>& rows) {
      line("  %14s %12s %10s  %s", "BYTES", "OBJECTS", "RECORDED", what);
      for (const ClassRow& row : allocated_rows(rows, rows_))
        line("  %14llu %12llu %10llu  %s", static_cast<unsigned long long>(rounded(row.value.bytes)),
             static_cast<unsigned long long>(rounded(row.value.objects)),
             static_cast<unsigned long long>(row.value.elements), printable(row.key).c_str());
    };
    table("CLASS", statistics.allocations);
    if (!statistics.sites.empty()) table("SITE", statistics.sites);
  }
  void counters_of(const ScopeStatistics& statistics) {
    line("  %20s %20s %20s %20s  %s", "FIRST", "LAST", "LEAST", "GREATEST", "COUNTER");
    for (const CounterRow& row : counter_rows(statistics, rows_)) {
      const CounterSeries& series = row.value;
      if (series.samples == 0) line("  %s = %s", printable(row.key).c_str(), printable(series.text).c_str());
      else
        line("  %20lld %20lld %20lld %20lld  %s", static_cast<long long>(series.first),
             static_cast<long long>(series.last), static_cast<long long>(series.least),
             static_cast<long long>(series.greatest), printable(row.key).c_str());
    }
  }
  void stacks_of(const ScopeStatistics& statistics) {
    line("  %10s %-9s  %s", "FRAMES", "STATE", "THREAD");
    std::size_t count = 0;
    for (const auto& [id, thread] : statistics.stacks) {
      if (++count > rows_) break;
      line("  %10zu %-9s  %s", thread.frames.size(), std::string(state_name(thread.state)).c_str(),
           printable(statistics.scope->thread_name(id)).c_str());
    }
    for (const auto& circle : statistics.deadlocks()) {
      std::string text = "  deadlock:";
      for (const std::uint64_t id : circle) text += " " + printable(statistics.scope->thread_name(id)) + " ->";
      line("%s %s", text.c_str(), printable(statistics.scope->thread_name(circle.front())).c_str());
    }
  }
  void threads_of(const ScopeStatistics& statistics) {
    // An estimate must not look like a counted number.
    const bool estimated = statistics.allocation_kind == AllocationKind::kSampled;
    line("  %10s %12s %12s %12s %14s  %s", "EVENTS", "BLOCKED s", "WAITING s", "SLEEPING s",
         estimated ? "ALLOCATED est." : "ALLOCATED", "THREAD");
    for (const ThreadRow& row : thread_rows(statistics, rows_))
      line("  %10llu %12s %12s %12s %14llu  %s", static_cast<unsigned long long>(row.value.events),
           seconds(row.value.blocked.total).c_str(), seconds(row.value.waiting.total).c_str(),
           seconds(row.value.sleeping.total).c_str(),
           static_cast<unsigned long long>(rounded(row.value.allocated_bytes)),
           printable(statistics.scope->thread_name(row.key)).c_str());
  }
  void monitors_of(const ScopeStatistics& statistics) {
    line("  %10s %12s %12s  %s", "TIMES", "BLOCKED s", "LONGEST s", "CLASS OF THE MONITOR");
    for (const MonitorRow& row : wait_rows<MonitorRow>(statistics.contention, rows_))
      line("  %10llu %12s %12s  %s", static_cast<unsigned long long>(row.value.count), seconds(row.value.total).c_str(),
           seconds(row.value.longest).c_str(), printable(row.key).c_str());
    if (!statistics.waited_for.empty())
      line("  %10s %12s %12s  %s", "TIMES", "BLOCKED s", "LONGEST s", "WAITING THREAD for OWNER");
    for (const PairRow& row : wait_rows<PairRow>(statistics.waited_for, rows_))
      line("  %10llu %12s %12s  %s for %s", static_cast<unsigned long long>(row.value.count),
           seconds(row.value.total).c_str(), seconds(row.value.longest).c_str(),
           printable(statistics.scope->thread_name(row.key.first)).c_str(),
           row.key.second == 0 ? "?" : printable(statistics.scope->thread_name(row.key.second)).c_str());
  }
  void calls_of(const ScopeStatistics& statistics) {
    line("  %10s %12s %12s %12s  %s", "CALLS", "SELF s", "TOTAL s", "COUNTED", "METHOD");
    for (const MethodRow& row : method_rows(statistics, rows_))
      line("  %10llu %12s %12s %12s  %s", static_cast<unsigned long long>(row.value.calls),
           seconds(row.value.self).c_str(), seconds(row.value.total).c_str(),
           row.value.has_count ? std::to_string(row.value.counted).c_str() : "-",
           printable(statistics.scope->method_name(row.key)).c_str());
    const Coverage coverage = coverage_of(statistics);
    if (coverage.counted != 0)
      line("  %llu of %llu counted methods ran", static_cast<unsigned long long>(coverage.ran),
           static_cast<unsigned long long>(coverage.counted));
    out_ += slow_calls_text(statistics, {.over = 0, .rows = rows_});
  }

  const Statistics& statistics_;
  std::size_t rows_;
  std::string out_;
};

void write_stacks(JsonWriter& json, const ScopeStatistics& statistics, std::size_t rows) {
  json.key("stacks").begin_array();
  std::size_t count = 0;
  for (const auto& [id, thread] : statistics.stacks) {
    if (++count > rows) break;
    json.begin_object().member("threadId", id).member("name", statistics.scope->thread_name(id));
    json.member("state", state_name(thread.state)).key("frames").begin_array();
    for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame)
      json.value(statistics.scope->method_name(*frame));
    json.end_array().end_object();
  }
  json.end_array().key("deadlocks").begin_array();
  for (const auto& circle : statistics.deadlocks()) {
    json.begin_array();
    for (const std::uint64_t id : circle) json.value(statistics.scope->thread_name(id));
    json.end_array();
  }
  json.end_array();
}

void write_waits(JsonWriter& json, const Waits& waits) {
  json.member("times", waits.count).member("seconds", as_seconds(waits.total));
  json.member("longest", as_seconds(waits.longest));
}

// "exact", "estimated" or "unknown", if there are any.
void write_kind(JsonWriter& json, std::string_view key, const ScopeStatistics& statistics) {
  if (statistics.allocation_kind == AllocationKind::kNone) return;
  json.key(key).begin_object();
  json.member("kind", statistics.allocation_kind == AllocationKind::kSampled   ? "estimated"
                      : statistics.allocation_kind == AllocationKind::kUnknown ? "unknown"
                                                                               : "exact");
  if (const std::string note = statistics.allocation_note(); !note.empty()) json.member("note", note);
  json.end_object();
}

void write_allocated(JsonWriter& json, std::string_view key, std::string_view name, const std::vector<ClassRow>& rows) {
  json.key(key).begin_array();
  for (const ClassRow& row : rows) {
    json.begin_object().member(name, row.key).member("instances", rounded(row.value.objects));
    json.member("bytes", rounded(row.value.bytes)).member("recorded", row.value.elements).end_object();
  }
  json.end_array();
}

void write_process(JsonWriter& json, const Statistics& statistics, const std::string& process, std::size_t rows) {
  json.begin_object().member("processId", process);
  if (const auto* gc = statistics.chosen(process, Family::kGc)) {
    json.key("gc").begin_object().member("source", gc->scope->agent_name);
    write_waits(json, gc->gc);
    json.key("pauses").begin_array();  // the longest first
    for (const GcPause* pause : longest_pauses(*gc, rows)) {
      json.begin_object().member("start", as_seconds(pause->start)).member("seconds", as_seconds(pause->duration));
      if (pause->used != 0) json.member("usedAfter", pause->used);
      if (pause->total != 0) json.member("heap", pause->total);
      json.end_object();
    }
    json.end_array().end_object();
  }
  if (const auto* threads = statistics.chosen(process, Family::kThreads)) {
    json.key("threads").begin_array();
    for (const ThreadRow& row : thread_rows(*threads, rows)) {
      json.begin_object().member("threadId", row.key).member("name", threads->scope->thread_name(row.key));
      json.member("events", row.value.events).member("blocked", as_seconds(row.value.blocked.total));
      json.member("waiting", as_seconds(row.value.waiting.total));
      json.member("sleeping", as_seconds(row.value.sleeping.total));
      json.member("allocations", rounded(row.value.allocations)).member("bytes", rounded(row.value.allocated_bytes));
      json.end_object();
    }
    json.end_array();
    write_kind(json, "threadAllocations", *threads);
  }
  if (const auto* monitors = statistics.chosen(process, Family::kMonitors)) {
    json.key("contention").begin_array();
    for (const MonitorRow& row : wait_rows<MonitorRow>(monitors->contention, rows)) {
      json.begin_object().member("class", row.key);
      write_waits(json, row.value);
      json.end_object();
    }
    json.end_array().key("waitedFor").begin_array();
    for (const PairRow& row : wait_rows<PairRow>(monitors->waited_for, rows)) {
      json.begin_object().member("thread", monitors->scope->thread_name(row.key.first));
      json.member("owner", row.key.second == 0 ? "" : monitors->scope->thread_name(row.key.second));
      write_waits(json, row.value);
      json.end_object();
    }
    json.end_array();
  }
  if (const auto* calls = statistics.chosen(process, Family::kCalls)) {
    json.key("methods").begin_array();
    for (const MethodRow& row : method_rows(*calls, rows)) {
      json.begin_object().member("method", calls->scope->method_name(row.key)).member("calls", row.value.calls);
      json.member("self", as_seconds(row.value.self)).member("total", as_seconds(row.value.total));
      if (row.value.has_count) json.member("counted", row.value.counted);
      json.end_object();
    }
    json.end_array();
    const Coverage coverage = coverage_of(*calls);
    if (coverage.counted != 0)
      json.key("coverage").begin_object().member("ran", coverage.ran).member("methods", coverage.counted).end_object();
    write_slow_calls(json, *calls, {.over = 0, .rows = rows});
  }
  if (const auto* exceptions = statistics.chosen(process, Family::kExceptions))
    write_exceptions(json, *exceptions, rows);
  if (const auto* allocations = statistics.chosen(process, Family::kAllocations)) {
    write_kind(json, "allocationKind", *allocations);
    write_allocated(json, "allocations", "class", allocated_rows(allocations->allocations, rows));
    write_allocated(json, "sites", "site", allocated_rows(allocations->sites, rows));
  }
  if (const auto* heap = statistics.chosen(process, Family::kHeap)) {
    json.key("heap").begin_array();
    for (const HeapRow& row : heap_rows(*heap, rows)) {
      json.begin_object().member("class", row.key).member("instances", row.value.count);
      json.member("bytes", row.value.bytes).end_object();
    }
    json.end_array();
  }
  if (const auto* counters = statistics.chosen(process, Family::kCounters)) {
    json.key("counters").begin_array();
    for (const CounterRow& row : counter_rows(*counters, rows)) {
      json.begin_object().member("name", row.key).member("samples", row.value.samples);
      if (row.value.samples == 0) json.member("text", row.value.text);
      else json.member("first", row.value.first).member("last", row.value.last);
      json.member("least", row.value.least).member("greatest", row.value.greatest).end_object();
    }
    json.end_array();
  }
  if (const auto* stacks = statistics.chosen(process, Family::kStacks)) write_stacks(json, *stacks, rows);
  json.end_object();
}

}  // namespace

void begin_trace_view(JsonWriter& json, std::string_view view, const Statistics& statistics, std::string_view input) {
  std::uint64_t dropped = 0;
  for (const ScopeStatistics& each : statistics.by_scope()) dropped += each.scope ? each.scope->dropped : 0;
  json.begin_object().member("view", view);
  json.key("target").begin_object().member("kind", "trace").member("path", input).end_object();
  json.member("complete", dropped == 0).key("missing").begin_array();
  if (dropped != 0) json.value(std::to_string(dropped) + " events lost while tracing");
  json.end_array();
}

std::string statistics_text(const Statistics& statistics, std::size_t rows) {
  return TextView(statistics, rows).text();
}

std::string statistics_json(const Statistics& statistics, std::string_view input, std::size_t rows) {
  std::string out;
  JsonWriter json(out);
  begin_trace_view(json, "stats", statistics, input);
  json.member("events", statistics.events()).key("elements").begin_object();
  for (const ElementInfo& element : kElements)
    if (const std::uint64_t count = statistics.total(element.kind); count != 0) json.member(element.name, count);
  json.end_object().key("producers").begin_array();
  for (const ScopeStatistics& each : statistics.by_scope()) {
    if (each.scope == nullptr) continue;
    json.begin_object().member("agentId", each.scope->agent_id).member("agentName", each.scope->agent_name);
    json.member("processId", each.scope->process_id).member("pid", each.scope->pid);
    json.member("process", each.scope->process_name).member("snapshot", each.scope->snapshot);
    json.member("events", each.events()).member("start", seconds(each.first)).member("end", seconds(each.last));
    json.member("seconds", as_seconds(each.last - each.first)).member("dropped", each.scope->dropped);
    json.member("gaps", each.gaps).member("gapSeconds", as_seconds(each.gap_time)).end_object();
  }
  json.end_array().key("data").begin_array();
  for (const std::string& process : statistics.process_ids()) write_process(json, statistics, process, rows);
  json.end_array().end_object();
  out += '\n';
  return out;
}

}  // namespace jtrace::trace::io
