// Families: what a producer has recorded of each, and which producer of a process is shown.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "trace/io/statistics.h"
#include "trace/record/control.h"
#include "trace/record/event_names.h"

namespace jtrace::trace::io {
namespace {

// A snapshot reports no durations; its threads are used only if no other trace has threads.
std::uint64_t amount(const ScopeStatistics& statistics, Family family) {
  const bool snapshot = statistics.scope->snapshot;
  switch (family) {
    case Family::kThreads:
      return snapshot ? !statistics.stacks.empty()
                      : statistics.threads.size() + statistics.count(ElementKind::kThreadStart);
    case Family::kCalls:
      if (snapshot) return 0;
      return statistics.count(ElementKind::kMethodEntry) + statistics.count(ElementKind::kMethodCount);
    case Family::kExceptions:
      return snapshot ? 0 : statistics.count(ElementKind::kThrow) + statistics.count(ElementKind::kCatch);
    case Family::kMonitors:
      if (snapshot) return 0;
      return statistics.count(ElementKind::kMonContendedEnter) + statistics.count(ElementKind::kMonWait) +
             statistics.contention.size() + statistics.scope->short_contentions.size();
    case Family::kGc: return statistics.gc.count;
    case Family::kAllocations: return statistics.count(ElementKind::kObjAlloc);
    case Family::kCounters: return statistics.counters.size();
    case Family::kHeap: return statistics.heap.size();
    case Family::kStacks: return statistics.stacks.size();
  }
  return 0;
}

// "methods, calls: an SDDF file does not have them"; "" if nothing is said.
std::string what_is_not_in_it(const Statistics& statistics, Family family) {
  const std::uint64_t events = family == Family::kCalls        ? record::kMethodEvent
                               : family == Family::kExceptions ? record::kThrowEvent | record::kCatchEvent
                                                               : record::kObjAllocEvent | record::kAllocationEvent;
  std::string lines;
  for (const ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr)
      for (const std::string& line : each.scope->unavailable_of(events)) lines += "; not in it: " + printable(line);
  return lines;
}

}  // namespace

std::string recorded_without(const Statistics& statistics, Family family) {
  if (const std::string lines = what_is_not_in_it(statistics, family); !lines.empty()) return lines;
  bool any = false;
  for (const ScopeStatistics& each : statistics.by_scope()) {
    if (each.scope == nullptr) continue;
    const Scope& scope = *each.scope;
    const bool asked = family == Family::kCalls        ? scope.has_calls
                       : family == Family::kExceptions ? scope.has_exceptions
                                                       : scope.has_allocations;
    if (asked || !scope.has_events_option) return {};
    any = true;
  }
  if (!any) return {};
  return std::string(": it was recorded without ") +
         (family == Family::kCalls        ? "methods"
          : family == Family::kExceptions ? "exceptions"
                                          : "objects or allocations") +
         " (--events)";
}

Recorded recorded_of(const ScopeStatistics& statistics) {
  const Scope& scope = *statistics.scope;
  if (scope.snapshot) return {};
  if (scope.has_events_option) {
    std::uint64_t there = scope.asked_events;
    for (const std::string& line : scope.unavailable) there &= ~record::events_lacking(line);
    const auto asked = [&](std::uint64_t events) { return (there & events) != 0; };
    return {.blocked = asked(record::kMonContendedEnteredEvent),
            .waiting = asked(record::kMonWaitedEvent | record::kParkEvent),
            .sleeping = asked(record::kSleepEvent),
            // The agent's line may mean that only some are missing.
            .allocations = scope.has_allocations && (asked(record::kObjAllocEvent | record::kAllocationEvent) ||
                                                     statistics.count(ElementKind::kObjAlloc) != 0),
            .calls = asked(record::kMethodEvent),
            .pauses = asked(record::kGcEvent)};
  }
  const auto any = [&](auto&& is) {
    return std::any_of(statistics.threads.begin(), statistics.threads.end(),
                       [&](const auto& thread) { return is(thread.second); });
  };
  return {.blocked = statistics.count(ElementKind::kMonContendedEnter) != 0,
          .waiting = any([](const ThreadStatistics& thread) { return thread.waiting.count != 0; }),
          .sleeping = any([](const ThreadStatistics& thread) { return thread.sleeping.count != 0; }),
          .allocations = statistics.count(ElementKind::kObjAlloc) != 0,
          .calls = statistics.count(ElementKind::kMethodEntry) != 0,
          .pauses = statistics.gc.count != 0};
}

Coverage coverage_of(const ScopeStatistics& statistics) {
  Coverage coverage;
  for (const auto& [id, method] : statistics.methods) {
    if (!method.has_count) continue;
    ++coverage.counted;
    coverage.ran += method.counted != 0;
  }
  return coverage;
}

const ScopeStatistics* Statistics::chosen(std::string_view process_id, Family family) const {
  const ScopeStatistics* best = nullptr;
  // A producer that reports every object is preferred to one that samples, however many samples it has.
  const auto rank = [&](const ScopeStatistics& each) {
    const bool exact = family == Family::kAllocations && each.allocation_kind == AllocationKind::kExact;
    return std::pair(exact, amount(each, family));
  };
  for (const ScopeStatistics& each : by_scope_) {
    if (each.scope == nullptr || each.scope->process_id != process_id || amount(each, family) == 0) continue;
    if (best == nullptr || rank(each) > rank(*best)) best = &each;
  }
  return best;
}

const ScopeStatistics* Statistics::watcher_of_pauses(std::string_view process_id) const {
  if (const ScopeStatistics* best = chosen(process_id, Family::kGc)) return best;
  for (const ScopeStatistics& each : by_scope_)
    if (each.scope != nullptr && each.scope->process_id == process_id &&
        (recorded_of(each).pauses || each.scope->gc_interval != 0))
      return &each;
  return nullptr;
}

std::vector<const ScopeStatistics*> Statistics::not_chosen(std::string_view process_id, Family family) const {
  const ScopeStatistics* best = chosen(process_id, family);
  std::vector<const ScopeStatistics*> others;
  for (const ScopeStatistics& each : by_scope_)
    if (&each != best && each.scope != nullptr && each.scope->process_id == process_id && amount(each, family) != 0)
      others.push_back(&each);
  return others;
}

}  // namespace jtrace::trace::io
