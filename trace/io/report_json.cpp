// The data of the report's page. Times are us since the start of the process's trace; weights of the flame graph are ns
// and bytes. Long lists are flat arrays, because they are most of the page.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "trace/io/call_percentile.h"
#include "trace/io/exceptions_text.h"
#include "trace/io/report.h"
#include "trace/io/slow_text.h"
#include "trace/io/statistics_rows.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kLanes = 200, kBars = 24'000, kPauses = 4'000, kTreeNodes = 6'000;
constexpr std::size_t kRows = 300, kSeries = 300, kPoints = 24'000, kStacks = 400, kFrames = 40'000, kSlowCalls = 100;
constexpr std::size_t kFirstSlowCalls = 20;  // of each method its longest, as in the text; the others on request
constexpr std::size_t kLosses = 64;          // of a lane

// The `limit` largest rows of a table by `weight`, largest first, ties by key.
template <class Map, class Weight>
auto greatest(const Map& map, std::size_t limit, Weight weight) {
  std::vector<const typename Map::value_type*> rows;
  for (const auto& row : map) rows.push_back(&row);
  const auto less = [&](const auto* a, const auto* b) {
    const auto left = weight(*a), right = weight(*b);
    return left != right ? left > right : a->first < b->first;
  };
  limit = std::min(limit, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(limit), rows.end(), less);
  rows.resize(limit);
  return rows;
}

class Page {
 public:
  Page(const ReportCollector& report, const ReportOptions& options, std::size_t scale)
      : report_(report), options_(options), scale_(scale), json_(out_) {}

  std::string text() {
    json_.begin_object().member("title", options_.title).member("version", JTRACE_VERSION);
    json_.member("events", report_.events()).member("truncated", options_.truncated);
    json_.member("lacksEnd", report_.losses().lacks_end);
    json_.key("faults").begin_object();
    for (const auto& [kind, count] : options_.faults) json_.member(kind, count);
    json_.end_object().key("elements").begin_array();
    for (const ElementInfo& element : kElements)
      if (const std::uint64_t count = report_.total(element.kind); count != 0)
        json_.begin_array().value(element.name).value(count).end_array();
    json_.end_array().key("processes").begin_array();
    for (const std::string& id : report_.process_ids()) process(id);
    json_.end_array().end_object();
    escape_tags();
    return std::move(out_);
  }

 private:
  std::size_t limit(std::size_t full) const { return std::max<std::size_t>(full / scale_, 4); }
  // The data must not contain anything that ends its script element.
  void escape_tags() {
    std::string safe;
    safe.reserve(out_.size());
    for (const char c : out_) {
      if (c == '<') safe += "\\u003c";
      else safe += c;
    }
    out_ = std::move(safe);
  }
  std::uint64_t us(std::uint64_t ns) const { return ns > start_ ? (ns - start_) / 1000 : 0; }
  static std::uint64_t rounded(double amount) { return static_cast<std::uint64_t>(std::llround(amount)); }
  static std::uint64_t us_of(std::uint64_t duration) { return (duration + 500) / 1000; }

  void process(const std::string& id) {
    start_ = std::numeric_limits<std::uint64_t>::max();
    end_ = 0;
    for (const ScopeStatistics& each : report_.by_scope()) {
      if (each.scope == nullptr || each.scope->process_id != id || each.first == 0) continue;
      start_ = std::min(start_, each.first);
      end_ = std::max(end_, each.last);
    }
    if (end_ == 0) start_ = 0;
    json_.begin_object().member("id", id).member("start", std::to_string(start_)).member("span", us(end_));
    json_.key("producers").begin_array();
    for (const ScopeStatistics& each : report_.by_scope())
      if (each.scope != nullptr && each.scope->process_id == id) producer(each);
    json_.end_array();
    const auto section = [&](Family family, auto&& put) {
      const ScopeStatistics* chosen =
          family == Family::kGc ? report_.watcher_of_pauses(id) : report_.chosen(id, family);
      if (chosen == nullptr) return;
      json_.key(family_name(family)).begin_object().member("source", chosen->scope->agent_name);
      put(*chosen);
      json_.end_object();
    };
    const ScopeStatistics* monitors = report_.chosen(id, Family::kMonitors);
    section(Family::kThreads,
            [&](const ScopeStatistics& each) { threads(each, monitors != nullptr ? *monitors : each); });
    section(Family::kMonitors, [&](const ScopeStatistics& each) { contention(each); });
    section(Family::kGc, [&](const ScopeStatistics& each) { pauses(each); });
    section(Family::kCalls, [&](const ScopeStatistics& each) {
      methods(each);
      write_slow_calls(json_, each, {.over = 0, .rows = limit(kSlowCalls), .first = kFirstSlowCalls});
    });
    section(Family::kExceptions, [&](const ScopeStatistics& each) { write_exceptions(json_, each, limit(kRows)); });
    section(Family::kAllocations, [&](const ScopeStatistics& each) {
      json_.member("note", notes_of(each));
      classes(each.allocations);
      json_.key("sites").begin_object();
      classes(each.sites);
      json_.end_object();
    });
    section(Family::kHeap, [&](const ScopeStatistics& each) { classes(each.heap); });
    section(Family::kCounters, [&](const ScopeStatistics& each) { counters(each); });
    section(Family::kStacks, [&](const ScopeStatistics& each) { stacks(each); });
    flame(id);
    json_.end_object();
  }

  static std::string notes_of(const ScopeStatistics& each) {
    std::string notes;
    for (const std::string& note : {each.allocation_note(), each.cut_stacks_note(), each.filters_note()})
      if (!note.empty()) notes += (notes.empty() ? "" : "; ") + note;
    return notes;
  }

  void producer(const ScopeStatistics& each) {
    const Scope& scope = *each.scope;
    json_.begin_object().member("agent", scope.agent_name).member("version", scope.agent_version);
    json_.member("parameters", scope.agent_parameters).member("process", scope.process_name).member("pid", scope.pid);
    json_.member("host", scope.hostname).member("command", scope.executable).member("snapshot", scope.snapshot);
    json_.member("events", each.events())
        .member("dropped", scope.losses.events)
        .member("pauses", scope.pauses)
        .member("traces", scope.traces);
    json_.member("from", us(each.first)).member("to", us(each.last)).end_object();
  }

  // Threads with most events, in the order of their start.
  void threads(const ScopeStatistics& statistics, const ScopeStatistics& states) {
    const auto rows =
        greatest(statistics.threads, limit(kLanes * 2), [](const auto& row) { return row.second.events; });
    json_.member("all", statistics.threads.size());
    json_.member("estimated", statistics.allocation_kind == AllocationKind::kSampled);
    const Recorded of_events = recorded_of(statistics), of_states = recorded_of(states);
    const auto* lanes = report_.lanes(states);
    if (lanes != nullptr)
      if (const auto all = lanes->find(0); all != lanes->end()) losses_of(all->second);
    json_.key("rows").begin_array();
    const std::size_t shown = std::min(rows.size(), limit(kLanes));
    const std::size_t bars = std::max<std::size_t>(limit(kBars) / std::max<std::size_t>(shown, 1), 4);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [id, thread] = *rows[i];
      const auto info = statistics.scope->threads.find(id);
      json_.begin_object().member("name", statistics.scope->thread_name(id)).member("id", std::to_string(id));
      json_.member("events", thread.events);
      if (knows_allocations(of_events, thread))
        json_.member("allocations", rounded(thread.allocations)).member("bytes", rounded(thread.allocated_bytes));
      if (info != statistics.scope->threads.end()) {
        json_.member("group", info->second.group);
        if (info->second.start.present()) json_.member("start", us(info->second.start.ns()));
        if (info->second.end.present()) json_.member("end", us(info->second.end.ns()));
      }
      const auto state = states.threads.find(id);
      if (state != states.threads.end()) {
        if (of_states.blocked) json_.member("blocked", us_of(state->second.blocked.total));
        if (of_states.waiting) json_.member("waiting", us_of(state->second.waiting.total));
        if (of_states.sleeping) json_.member("sleeping", us_of(state->second.sleeping.total));
      }
      if (lanes != nullptr && i < shown)
        if (const auto lane = lanes->find(id); lane != lanes->end()) lane_of(lane->second, bars);
      json_.end_object();
    }
    json_.end_array();
  }
  // from, to, from, to...
  void losses_of(Lane lane) {
    if (lane.lost.empty()) return;
    lane.join_losses(limit(kLosses));
    json_.key("lost").begin_array();
    for (const LaneLoss& loss : lane.lost) json_.value(us(loss.from)).value(us(std::min(loss.to, end_)));
    json_.end_array();
  }
  // start, duration, blocked, waiting, sleeping; start, ...
  void lane_of(Lane lane, std::size_t bars) {
    if (lane.first)
      json_.key("first")
          .begin_object()
          .member("state", lane.first->state)
          .member("from", us(lane.first->since))
          .member("until", us(lane.first->until))
          .end_object();
    lane.thin_out(bars);
    losses_of(lane);
    json_.key("bars").begin_array();
    for (const LaneBar& bar : lane.bars)
      json_.value(us(bar.start))
          .value(us_of(bar.end - bar.start))
          .value(us_of(bar.blocked))
          .value(us_of(bar.waiting))
          .value(us_of(bar.sleeping));
    json_.end_array();
  }

  void contention(const ScopeStatistics& statistics) {
    const auto by_total = [](const auto& row) { return row.second.total; };
    const auto put = [&](const Waits& waits) {
      json_.value(waits.count).value(us_of(waits.total)).value(us_of(waits.longest)).end_array();
    };
    if (statistics.scope->could_have_owners()) json_.member("ownersNote", kOwnersNote);
    json_.key("classes").begin_array();
    for (const auto* row : greatest(statistics.contention, limit(kRows), by_total))
      put((json_.begin_array().value(row->first), row->second));
    json_.end_array().key("waits").begin_array();
    for (const auto* row : greatest(statistics.waits, limit(kRows), by_total))
      put((json_.begin_array().value(row->first), row->second));
    json_.end_array().key("short").begin_array();
    for (const auto* row : greatest(statistics.scope->short_contentions, limit(kRows), by_total))
      json_.begin_array().value(row->first).value(row->second.count).value(us_of(row->second.total)).end_array();
    json_.end_array().member("shortNote", statistics.scope->short_contentions_note());
    // Threads of the same name are one row here, because threads come and go.
    std::map<std::pair<std::string, std::string>, Waits> pairs;
    for (const auto& [key, waits] : statistics.waited_for) {
      const Scope& scope = *statistics.scope;
      Waits& all = pairs[{scope.thread_name(key.first), key.second == 0 ? "?" : scope.thread_name(key.second)}];
      all.count += waits.count;
      all.total += waits.total;
      all.longest = std::max(all.longest, waits.longest);
    }
    json_.key("pairs").begin_array();
    for (const auto* row : greatest(pairs, limit(kRows), by_total))
      put((json_.begin_array().value(row->first.first).value(row->first.second), row->second));
    json_.end_array();
  }

  void pauses(const ScopeStatistics& statistics) {
    json_.member("count", statistics.gc.count).member("total", us_of(statistics.gc.total));
    json_.member("longest", us_of(statistics.gc.longest)).member("missed", statistics.gc_missed);
    json_.member("heapNote", statistics.scope->late_heap_note());
    json_.key("texts").begin_array();
    for (const std::string& text : statistics.pause_texts) json_.value(text);
    json_.end_array().key("causes").begin_array();  // kind, cause, times, total, longest
    for (const CauseRow& row : cause_rows(statistics))
      json_.begin_array()
          .value(row.key.second)
          .value(row.key.first)
          .value(row.value.count)
          .value(us_of(row.value.total))
          .value(us_of(row.value.longest))
          .end_array();
    json_.end_array().key("pauses").begin_array();
    // start, duration, used after it, before it (bytes; 0: unknown), places of kind and cause in texts; if there are
    // too many, the longest of neighbours
    const std::size_t each = statistics.pauses.size() / limit(kPauses) + 1;
    for (std::size_t i = 0; i < statistics.pauses.size(); i += each) {
      const auto from = statistics.pauses.begin() + static_cast<std::ptrdiff_t>(i);
      const auto to =
          statistics.pauses.begin() + static_cast<std::ptrdiff_t>(std::min(i + each, statistics.pauses.size()));
      const auto longest =
          std::max_element(from, to, [](const GcPause& a, const GcPause& b) { return a.duration < b.duration; });
      json_.value(us(longest->start)).value(us_of(longest->duration)).value(longest->used);
      json_.value(longest->before).value(longest->kind).value(longest->cause);
    }
    json_.end_array().key("collections").begin_array();
    // begin (null: before the trace), end, pauses, used before and after (null: unknown), kind, cause
    const Rows<const Collection*> collections = longest_collections(statistics, limit(kPauses) / 4);
    for (const Collection* whole : collections) {
      const auto put = [&](std::optional<std::uint64_t> value) { value ? json_.value(*value) : json_.null(); };
      json_.begin_array();
      put(whole->from != 0 ? std::optional(us(whole->from)) : std::nullopt);
      json_.value(us(whole->to)).value(whole->pauses);
      put(whole->before);
      put(whole->after);
      json_.value(whole->kind).value(whole->cause).end_array();
    }
    json_.end_array();
    write_left_out(json_, "collections", collections.left_out);
  }

  void methods(const ScopeStatistics& statistics) {
    const auto weight = [](const auto& row) {
      return std::tuple(row.second.self, row.second.calls, row.second.counted);
    };
    json_.member("timed", recorded_of(statistics).calls);  // otherwise calls were only counted
    json_.member("slowerThan", least_recorded(*statistics.scope))
        .member("slowerNote", statistics.scope->longest_note());
    json_.key("rows").begin_array();  // name, calls, self, total, cpu (ns), methodCount or null
    for (const auto* row : greatest(statistics.methods, limit(kRows * 2), weight)) {
      const MethodStatistics& method = row->second;
      json_.begin_array().value(statistics.scope->method_name(row->first)).value(method.calls).value(method.self);
      json_.value(method.total).value(method.cpu);
      if (method.has_count) json_.value(method.counted);
      else json_.null();
      json_.end_array();
    }
    json_.end_array().member("all", statistics.methods.size());
    const Coverage all = coverage_of(statistics);
    json_.member("counted", all.counted).member("ran", all.ran).key("coverage").begin_array();  // class, ran, methods
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> by_class;
    for (const auto& [id, method] : statistics.methods) {
      if (!method.has_count) continue;
      const auto info = statistics.scope->methods.find(id);
      auto& [ran, counted] =
          by_class[info == statistics.scope->methods.end() ? "?" : statistics.scope->class_name(info->second.class_id)];
      ++counted;
      ran += method.counted != 0;
    }
    for (const auto* row : greatest(by_class, limit(kRows), [](const auto& each) { return each.second.second; }))
      json_.begin_array().value(row->first).value(row->second.first).value(row->second.second).end_array();
    json_.end_array();
  }

  // class, objects, bytes; samples are weighted
  void classes(const std::map<std::string, Allocated>& table) {
    json_.member("all", table.size()).key("rows").begin_array();
    for (const auto* row : greatest(table, limit(kRows), [](const auto& each) { return each.second.bytes; }))
      json_.begin_array()
          .value(row->first)
          .value(rounded(row->second.objects))
          .value(rounded(row->second.bytes))
          .end_array();
    json_.end_array();
  }
  void classes(const std::map<std::string, Amount>& table) {
    json_.member("all", table.size()).key("rows").begin_array();  // class, objects, bytes
    for (const auto* row : greatest(table, limit(kRows), [](const auto& each) { return each.second.bytes; }))
      json_.begin_array().value(row->first).value(row->second.count).value(row->second.bytes).end_array();
    json_.end_array();
  }

  // Counters that changed come first, as curves; the others have only their value.
  void counters(const ScopeStatistics& statistics) {
    const auto rows = greatest(statistics.counters, limit(kSeries * 2), [](const auto& row) {
      return std::pair(row.second.least != row.second.greatest, row.second.samples != 0);
    });
    const auto curves = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [](const auto* row) { return row->second.least != row->second.greatest; }));
    const std::size_t points = std::max<std::size_t>(limit(kPoints) / std::max<std::size_t>(curves, 1), 8);
    json_.member("all", statistics.counters.size()).key("series").begin_array();
    for (const auto* row : rows) {
      const CounterSeries& series = row->second;
      json_.begin_object().member("name", row->first);
      if (series.samples == 0) json_.member("text", series.text);
      else json_.member("last", series.last).member("least", series.least).member("greatest", series.greatest);
      if (series.least != series.greatest) {
        json_.key("points").begin_array();  // us, value
        const std::size_t step = series.points.size() / points + 1;
        for (std::size_t i = 0; i < series.points.size(); i += step)
          json_.value(us(series.points[i].first)).value(series.points[i].second);
        json_.end_array();
      }
      json_.end_object();
    }
    json_.end_array();
  }

  void stacks(const ScopeStatistics& statistics) {
    json_.member("all", statistics.stacks.size()).key("rows").begin_array();
    std::size_t count = 0, frames = 0;
    for (const auto& [id, thread] : statistics.stacks) {
      if (++count > limit(kStacks)) break;
      json_.begin_object().member("name", statistics.scope->thread_name(id)).member("state", state_name(thread.state));
      if (thread.monitor != 0) json_.member("monitor", type_of_object(*statistics.scope, thread.monitor));
      if (thread.owner != 0) json_.member("owner", statistics.scope->thread_name(thread.owner));
      json_.key("frames").begin_array();
      if (thread.deeper != 0)
        json_.value("... " + counted(thread.deeper, "inner frame") + " " + is_are(thread.deeper) + " left out");
      auto frame = thread.frames.rbegin();
      for (; frame != thread.frames.rend() && frames < limit(kFrames); ++frame, ++frames)
        json_.value(statistics.scope->method_name(*frame));
      if (const auto rest = thread.frames.rend() - frame; rest != 0)
        json_.value("... " + counted(rest, "outer frame") + " " + is_are(rest) + " left out");
      json_.end_array().end_object();
    }
    json_.end_array().key("deadlocks").begin_array();
    for (const auto& circle : statistics.deadlocks()) {
      json_.begin_array();
      for (const std::uint64_t id : circle) json_.value(statistics.scope->thread_name(id));
      json_.end_array();
    }
    json_.end_array();
  }

  // The producer that has most calls, allocations or stacks.
  void flame(const std::string& id) {
    const ScopeStatistics* best = report_.with_frames(id);
    if (best == nullptr) return;
    json_.key("flame").begin_object().member("source", best->scope->agent_name);
    json_.member("note", notes_of(*best));
    put_tree(*report_.tree(*best));
    json_.end_object();
  }

  static constexpr std::array<std::uint64_t CallTree::Node::*, 5> kWeights = {
      &CallTree::Node::calls, &CallTree::Node::wall, &CallTree::Node::cpu, &CallTree::Node::bytes,
      &CallTree::Node::samples};
  // The frames with the largest weights of any kind; the totals of dropped frames stay in their callers' totals.
  // Children come after their parents, so totals are added to the parents from the end.
  void put_tree(const CallTree& tree) {
    std::vector<std::array<std::uint64_t, kWeights.size()>> totals(tree.nodes.size());
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
      for (std::size_t w = 0; w < kWeights.size(); ++w) {
        totals[i][w] += tree.nodes[i].*kWeights[w];
        if (i != 0 && w != 0) totals[tree.nodes[i].parent][w] += totals[i][w];
      }
    }
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
      double share = 0;
      for (std::size_t w = 1; w < kWeights.size(); ++w)
        if (totals[0][w] != 0)
          share = std::max(share, static_cast<double>(totals[i][w]) / static_cast<double>(totals[0][w]));
      order.emplace_back(-share, i);
    }
    const std::size_t kept = std::min(order.size(), limit(kTreeNodes));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end());
    order.resize(kept);
    // A parent's share is at least its child's, and its number is smaller: it is kept if the child is.
    std::vector<std::uint32_t> nodes{0};
    for (const auto& [share, node] : order) nodes.push_back(node);
    std::sort(nodes.begin(), nodes.end());
    std::unordered_map<std::uint32_t, std::size_t> place;
    std::vector<std::uint32_t> names;
    std::unordered_map<std::uint32_t, std::size_t> name_place;
    json_.member("frames", tree.nodes.size() - 1).member("folded", tree.folded);
    json_.key("nodes").begin_array();  // parent, name, calls, and totals: wall, cpu, bytes, samples
    for (const std::uint32_t node : nodes) {
      place.emplace(node, place.size());
      const auto [name, fresh] = name_place.try_emplace(tree.nodes[node].name, names.size());
      if (fresh) names.push_back(tree.nodes[node].name);
      json_.value(place[tree.nodes[node].parent]).value(name->second);
      for (const std::uint64_t total : totals[node]) json_.value(total);
    }
    json_.end_array().key("names").begin_array();
    for (const std::uint32_t name : names) json_.value(tree.names[name]);
    json_.end_array();
  }

  const ReportCollector& report_;
  const ReportOptions& options_;
  std::size_t scale_;
  std::string out_;
  JsonWriter json_;
  std::uint64_t start_ = 0, end_ = 0;  // of the process, ns
};

}  // namespace

std::string report_json(const ReportCollector& report, const ReportOptions& options, std::size_t scale) {
  return Page(report, options, scale).text();
}

}  // namespace jtrace::trace::io
