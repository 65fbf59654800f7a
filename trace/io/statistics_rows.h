// The rows of the tables of jtrace stats, as text and as JSON. Internal to trace/io. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/io/statistics.h"
#include "trace/io/table_rows.h"

namespace jtrace::trace::io {

inline std::string seconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", static_cast<double>(ns) / 1e9);
  return text;
}
inline std::string time_of_day(std::uint64_t ns) {
  const auto second = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&second, &parts);
  char text[32];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d.%03u", parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<unsigned>(ns % 1'000'000'000 / 1'000'000));
  return text;
}
inline double as_seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

template <class Row, class Map, class Less>
Rows<Row> sorted(const Map& map, Less less, std::size_t rows) {
  Rows<Row> all;
  for (const auto& [key, value] : map) all.shown.push_back({key, value});
  std::stable_sort(all.shown.begin(), all.shown.end(), less);
  all.limit(rows);
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
using ShortContentionRow = Row<std::string, ShortContentions>;
using HeapRow = Row<std::string, Amount>;
using CounterRow = Row<std::string, CounterSeries>;
using PairRow = Row<std::pair<std::uint64_t, std::uint64_t>, Waits>;
using OwnerRow = Row<std::uint64_t, Waits>;

inline Rows<ThreadRow> thread_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<ThreadRow>(
      statistics.threads,
      [](const ThreadRow& a, const ThreadRow& b) {
        return std::pair(b.value.events, a.key) < std::pair(a.value.events, b.key);
      },
      rows);
}
inline Rows<MethodRow> method_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<MethodRow>(
      statistics.methods,
      [](const MethodRow& a, const MethodRow& b) {
        return std::tuple(b.value.self, b.value.calls, b.value.counted, a.key) <
               std::tuple(a.value.self, a.value.calls, a.value.counted, b.key);
      },
      rows);
}
inline Rows<ClassRow> allocated_rows(const std::map<std::string, Allocated>& table, std::size_t rows) {
  return sorted<ClassRow>(
      table, [](const ClassRow& a, const ClassRow& b) { return a.value.bytes > b.value.bytes; }, rows);
}
inline std::uint64_t rounded(double amount) { return static_cast<std::uint64_t>(std::llround(amount)); }
inline Rows<HeapRow> heap_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<HeapRow>(
      statistics.heap, [](const HeapRow& a, const HeapRow& b) { return a.value.bytes > b.value.bytes; }, rows);
}
// Counters that changed come first.
inline Rows<CounterRow> counter_rows(const ScopeStatistics& statistics, std::size_t rows) {
  return sorted<CounterRow>(
      statistics.counters,
      [](const CounterRow& a, const CounterRow& b) {
        return (a.value.least != a.value.greatest) > (b.value.least != b.value.greatest);
      },
      rows);
}
inline Rows<const GcPause*> longest_pauses(const ScopeStatistics& statistics, std::size_t rows) {
  Rows<const GcPause*> pauses;
  for (const GcPause& pause : statistics.pauses) pauses.shown.push_back(&pause);
  std::stable_sort(pauses.shown.begin(), pauses.shown.end(),
                   [](const GcPause* a, const GcPause* b) { return a->duration > b->duration; });
  pauses.limit(rows);
  return pauses;
}
inline std::uint64_t lasted(const Collection& collection) {
  return collection.from == 0 || collection.to < collection.from ? 0 : collection.to - collection.from;
}
inline Rows<const Collection*> longest_collections(const ScopeStatistics& statistics, std::size_t rows) {
  Rows<const Collection*> collections;
  for (const Collection& each : statistics.collections) collections.shown.push_back(&each);
  std::stable_sort(collections.shown.begin(), collections.shown.end(),
                   [](const Collection* a, const Collection* b) { return lasted(*a) > lasted(*b); });
  collections.limit(rows);
  return collections;
}
using CauseRow = Row<std::pair<std::string, std::string>, Waits>;
inline Rows<CauseRow> cause_rows(const ScopeStatistics& statistics) {
  return sorted<CauseRow>(
      statistics.gc_causes, [](const CauseRow& a, const CauseRow& b) { return a.value.total > b.value.total; },
      statistics.gc_causes.size());
}
template <class R>
Rows<R> wait_rows(const auto& map, std::size_t rows) {
  return sorted<R>(
      map, [](const R& a, const R& b) { return a.value.total > b.value.total; }, rows);
}
// By the owner when the wait began, of all threads that waited for it together. Owners that are not known are in none.
inline Rows<OwnerRow> owner_rows(const ScopeStatistics& statistics, std::size_t rows) {
  std::map<std::uint64_t, Waits> owners;
  for (const auto& [pair, waits] : statistics.waited_for) {
    if (pair.second == 0) continue;
    Waits& all = owners[pair.second];
    all.count += waits.count;
    all.total += waits.total;
    all.longest = std::max(all.longest, waits.longest);
  }
  return wait_rows<OwnerRow>(owners, rows);
}
inline Rows<ShortContentionRow> short_contention_rows(const Scope& scope, std::size_t rows) {
  return wait_rows<ShortContentionRow>(scope.short_contentions, rows);
}

}  // namespace jtrace::trace::io
