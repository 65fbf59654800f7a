// The output of jtrace stats --json.
#include <algorithm>

#include "base/json_answer.h"
#include "base/strings.h"
#include "trace/io/exceptions_text.h"
#include "trace/io/slow_text.h"
#include "trace/io/statistics_rows.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

void write_stacks(JsonWriter& json, const ScopeStatistics& statistics, std::size_t rows) {
  json.key("stacks").begin_array();
  std::size_t count = 0;
  for (const auto& [id, thread] : statistics.stacks) {
    if (++count > rows) continue;
    json.begin_object().member("threadId", id).member("name", statistics.scope->thread_name(id));
    json.member("state", state_name(thread.state)).key("frames").begin_array();
    for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame)
      json.value(statistics.scope->method_name(*frame));
    json.end_array();
    write_left_out(json, "frames", thread.deeper);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "stacks", rows_left_out(count, rows));
  json.key("deadlocks").begin_array();
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

// If there are any.
void write_kind(JsonWriter& json, std::string_view key, const ScopeStatistics& statistics) {
  if (statistics.allocation_kind == AllocationKind::kNone) return;
  json.key(key).begin_object();
  json.member("kind", word_of(statistics.allocation_kind));
  if (const std::string note = statistics.allocation_note(); !note.empty()) json.member("note", note);
  if (const std::string note = statistics.cut_stacks_note(); !note.empty()) json.member("stacksNote", note);
  if (const std::string note = statistics.filters_note(); !note.empty()) json.member("filtersNote", note);
  json.end_object();
}

void write_allocated(JsonWriter& json, std::string_view key, std::string_view name, const Rows<ClassRow>& rows) {
  json.key(key).begin_array();
  for (const ClassRow& row : rows) {
    json.begin_object().member(name, row.key).member("instances", rounded(row.value.objects));
    json.member("bytes", rounded(row.value.bytes)).member("recorded", row.value.elements).end_object();
  }
  json.end_array();
  write_left_out(json, key, rows.left_out);
}

// Those that are more than one pause, the longest first.
void write_whole_collections(JsonWriter& json, const ScopeStatistics& gc, std::size_t rows) {
  json.key("collections").begin_array();
  const Rows<const Collection*> collections = longest_collections(gc, rows);
  for (const Collection* each : collections) {
    json.begin_object();
    if (each->from != 0) json.member("start", as_seconds(each->from)).member("seconds", as_seconds(lasted(*each)));
    json.member("end", as_seconds(each->to)).member("pauses", each->pauses);
    if (!each->cause.empty()) json.member("cause", each->cause);
    if (!each->kind.empty()) json.member("kind", each->kind);
    if (each->before) json.member("usedBefore", *each->before);
    if (each->after) json.member("usedAfter", *each->after);
    if (each->total) json.member("heap", *each->total);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "collections", collections.left_out);
}

void write_collections(JsonWriter& json, const ScopeStatistics& gc, std::size_t rows) {
  json.key("gc").begin_object().member("source", gc.scope->agent_name);
  write_waits(json, gc.gc);
  if (gc.gc_without_start != 0) json.member("withoutStart", gc.gc_without_start);
  json.key("pauses").begin_array();  // the longest first
  const Rows<const GcPause*> pauses = longest_pauses(gc, rows);
  for (const GcPause* pause : pauses) {
    json.begin_object().member("start", as_seconds(pause->start)).member("seconds", as_seconds(pause->duration));
    if (pause->cause != 0) json.member("cause", gc.pause_texts[pause->cause]);
    if (pause->kind != 0) json.member("kind", gc.pause_texts[pause->kind]);
    if (pause->before != 0) json.member("usedBefore", pause->before);
    if (pause->used != 0) json.member("usedAfter", pause->used);
    if (pause->total != 0) json.member("heap", pause->total);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "pauses", pauses.left_out);
  if (!gc.collections.empty()) write_whole_collections(json, gc, rows);
  json.key("causes").begin_array();  // the longest in all first
  for (const CauseRow& row : cause_rows(gc)) {
    json.begin_object();
    if (!row.key.first.empty()) json.member("cause", row.key.first);
    if (!row.key.second.empty()) json.member("kind", row.key.second);
    write_waits(json, row.value);
    json.end_object();
  }
  json.end_array();
  if (gc.gc_missed != 0) json.member("missed", gc.gc_missed);
  json.end_object();
}

void write_threads(JsonWriter& json, const ScopeStatistics& threads, std::size_t rows) {
  const Recorded recorded = recorded_of(threads);
  json.key("threads").begin_array();
  const Rows<ThreadRow> table = thread_rows(threads, rows);
  for (const ThreadRow& row : table) {
    json.begin_object().member("threadId", row.key).member("name", threads.scope->thread_name(row.key));
    json.member("events", row.value.events);
    if (recorded.blocked) json.member("blocked", as_seconds(row.value.blocked.total));
    if (recorded.waiting) json.member("waiting", as_seconds(row.value.waiting.total));
    if (recorded.sleeping) json.member("sleeping", as_seconds(row.value.sleeping.total));
    if (knows_allocations(recorded, row.value))
      json.member("allocations", rounded(row.value.allocations)).member("bytes", rounded(row.value.allocated_bytes));
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "threads", table.left_out);
  write_kind(json, "threadAllocations", threads);
}

void write_short_contentions(JsonWriter& json, const Scope& scope, std::size_t rows) {
  json.member("minContention", as_seconds(scope.min_contention)).key("shortContention").begin_array();
  const Rows<ShortContentionRow> classes = short_contention_rows(scope, rows);
  for (const ShortContentionRow& row : classes) {
    json.begin_object().member("class", row.key).member("times", row.value.count);
    json.member("total", as_seconds(row.value.total)).end_object();
  }
  json.end_array();
  write_left_out(json, "shortContention", classes.left_out);
}

void write_classes(JsonWriter& json, std::string_view key, const std::map<std::string, Waits>& waits,
                   std::size_t rows) {
  json.key(key).begin_array();
  const Rows<MonitorRow> classes = wait_rows<MonitorRow>(waits, rows);
  for (const MonitorRow& row : classes) {
    json.begin_object().member("class", row.key);
    write_waits(json, row.value);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, key, classes.left_out);
}

void write_monitors(JsonWriter& json, const ScopeStatistics& monitors, std::size_t rows) {
  write_classes(json, "contention", monitors.contention, rows);
  write_classes(json, "waits", monitors.waits, rows);
  if (monitors.carrier_waits.count != 0) {
    json.key("carrierWaits").begin_object();
    write_waits(json, monitors.carrier_waits);
    json.end_object();
  }
  write_short_contentions(json, *monitors.scope, rows);
  const bool lacks_owners = std::any_of(monitors.waited_for.begin(), monitors.waited_for.end(),
                                        [](const auto& each) { return each.first.second == 0; });
  if (lacks_owners && monitors.scope->could_have_owners()) json.member("ownersNote", kOwnersNote);
  if (lacks_owners && monitors.scope->hides_virtual_owners()) json.member("ownersNote", kVirtualOwnersNote);
  json.key("waitedFor").begin_array();
  const Rows<PairRow> pairs = wait_rows<PairRow>(monitors.waited_for, rows);
  for (const PairRow& row : pairs) {
    json.begin_object().member("thread", monitors.scope->thread_name(row.key.first));
    json.member("owner", row.key.second == 0 ? "" : monitors.scope->thread_name(row.key.second));
    write_waits(json, row.value);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "waitedFor", pairs.left_out);
  json.key("owners").begin_array();
  const Rows<OwnerRow> owners = owner_rows(monitors, rows);
  for (const OwnerRow& row : owners) {
    json.begin_object().member("owner", monitors.scope->thread_name(row.key));
    write_waits(json, row.value);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "owners", owners.left_out);
}

void write_calls(JsonWriter& json, const ScopeStatistics& calls, std::size_t rows) {
  const Recorded recorded = recorded_of(calls);
  json.key("methods").begin_array();
  const Rows<MethodRow> methods = method_rows(calls, rows);
  for (const MethodRow& row : methods) {
    json.begin_object().member("method", calls.scope->method_name(row.key));
    if (recorded.calls)
      json.member("calls", row.value.calls)
          .member("self", as_seconds(row.value.self))
          .member("total", as_seconds(row.value.total));
    if (row.value.has_count) json.member("counted", row.value.counted);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "methods", methods.left_out);
  const Coverage coverage = coverage_of(calls);
  if (coverage.counted != 0)
    json.key("coverage").begin_object().member("ran", coverage.ran).member("methods", coverage.counted).end_object();
  write_slow_calls(json, calls, {.over = 0, .rows = rows});
}

void write_heap(JsonWriter& json, const ScopeStatistics& heap, std::size_t rows) {
  json.key("heap").begin_array();
  const Rows<HeapRow> classes = heap_rows(heap, rows);
  for (const HeapRow& row : classes) {
    json.begin_object().member("class", row.key).member("instances", row.value.count);
    json.member("bytes", row.value.bytes).end_object();
  }
  json.end_array();
  write_left_out(json, "heap", classes.left_out);
}

void write_counters(JsonWriter& json, const ScopeStatistics& counters, std::size_t rows) {
  json.key("counters").begin_array();
  const Rows<CounterRow> table = counter_rows(counters, rows);
  for (const CounterRow& row : table) {
    json.begin_object().member("name", row.key).member("samples", row.value.samples);
    if (row.value.samples == 0) json.member("text", row.value.text);
    else json.member("first", row.value.first).member("last", row.value.last);
    json.member("least", row.value.least).member("greatest", row.value.greatest).end_object();
  }
  json.end_array();
  write_left_out(json, "counters", table.left_out);
}

// What other producers of the process recorded of the same.
void write_not_added(JsonWriter& json, const Statistics& statistics, const std::string& process) {
  json.key("notAdded").begin_array();
  for (std::size_t i = 0; i < kFamilyCount; ++i)
    for (const ScopeStatistics* other : statistics.not_chosen(process, static_cast<Family>(i)))
      json.begin_object()
          .member("family", family_name(static_cast<Family>(i)))
          .member("by", other->scope->agent_name)
          .end_object();
  json.end_array();
}

void write_process(JsonWriter& json, const Statistics& statistics, const std::string& process, std::size_t rows) {
  json.begin_object().member("processId", process);
  if (const auto* gc = statistics.watcher_of_pauses(process)) write_collections(json, *gc, rows);
  if (const auto* threads = statistics.chosen(process, Family::kThreads)) write_threads(json, *threads, rows);
  if (const auto* monitors = statistics.chosen(process, Family::kMonitors)) write_monitors(json, *monitors, rows);
  if (const auto* calls = statistics.chosen(process, Family::kCalls)) write_calls(json, *calls, rows);
  if (const auto* exceptions = statistics.chosen(process, Family::kExceptions))
    write_exceptions(json, *exceptions, rows);
  if (const auto* allocations = statistics.chosen(process, Family::kAllocations)) {
    write_kind(json, "allocationKind", *allocations);
    write_allocated(json, "allocations", "class", allocated_rows(allocations->allocations, rows));
    write_allocated(json, "sites", "site", allocated_rows(allocations->sites, rows));
  }
  if (const auto* heap = statistics.chosen(process, Family::kHeap)) write_heap(json, *heap, rows);
  if (const auto* counters = statistics.chosen(process, Family::kCounters)) write_counters(json, *counters, rows);
  if (const auto* stacks = statistics.chosen(process, Family::kStacks)) write_stacks(json, *stacks, rows);
  write_not_added(json, statistics, process);
  json.end_object();
}

}  // namespace

void begin_trace_view(JsonWriter& json, std::string_view view, const Statistics& statistics, std::string_view input) {
  std::vector<std::string> missing = lines_of(statistics.losses());
  missing.insert(missing.end(), statistics.missing().begin(), statistics.missing().end());
  begin_answer(json, view).begin_object();
  if (const auto& jvm = statistics.traced_jvm()) {
    json.member("kind", "process").member("pid", jvm->pid).member("nspid", jvm->nspid);
    if (jvm->keeps_trace) json.member("path", input);
  } else {
    json.member("kind", "trace").member("path", input);
  }
  write_missing(json.end_object(), missing);
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
    json.member("seconds", as_seconds(each.last - each.first)).member("dropped", each.scope->losses.events);
    json.member("continues", each.begins_later);
    json.member("gaps", each.gaps).member("gapSeconds", as_seconds(each.gap_time)).end_object();
  }
  json.end_array().key("data").begin_array();
  for (const std::string& process : statistics.process_ids()) write_process(json, statistics, process, rows);
  json.end_array().end_object();
  out += '\n';
  return out;
}

}  // namespace jtrace::trace::io
