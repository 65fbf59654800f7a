// The output of jtrace stats.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/strings.h"
#include "trace/io/exceptions_text.h"
#include "trace/io/pauses_text.h"
#include "trace/io/slow_text.h"
#include "trace/io/statistics_rows.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

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
    const int size = std::snprintf(nullptr, 0, format, arguments...);
    const std::size_t before = out_.size();
    out_.resize(before + static_cast<std::size_t>(std::max(size, 0)) + 1);
    std::snprintf(out_.data() + before, out_.size() - before, format, arguments...);
    out_.back() = '\n';
  }
  template <class Row, class Print>
  void each_of(const Rows<Row>& rows, Print print) {
    for (const Row& row : rows) print(row);
    out_ += more_rows(rows.left_out);
  }
  void head() {
    line("%s", counted(statistics_.events(), "event").c_str());
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
      if (each.begins_later) line("  %s", "begins where another file of the trace ends; what came before is not in it");
      if (scope.losses.events != 0) line("  lost: %s", counted(scope.losses.events, "event").c_str());
      if (scope.losses.lacks_end) line("  %s", std::string(kLacksEnd).c_str());
      if (const std::string note = scope.pauses_note(); !note.empty()) line("  %s", note.c_str());
      if (each.gaps != 0)
        line("  gaps: %llu, %s s of all threads together: what was open there counts until then",
             static_cast<unsigned long long>(each.gaps), seconds(each.gap_time).c_str());
    }
    const CallStacks& calls = statistics_.calls();
    if (calls.unmatched_exits() + calls.closed_by_others() + calls.closed_at_end() + calls.closed_by_gaps() != 0)
      line(
          "\ncalls: %llu exits without entry, %llu frames left without exit, %llu open at the end, %llu open where "
          "events were lost or the trace was paused",
          static_cast<unsigned long long>(calls.unmatched_exits()),
          static_cast<unsigned long long>(calls.closed_by_others()),
          static_cast<unsigned long long>(calls.closed_at_end()),
          static_cast<unsigned long long>(calls.closed_by_gaps()));
  }
  const ScopeStatistics* section(const std::string& process, Family family) {
    const ScopeStatistics* chosen =
        family == Family::kGc ? statistics_.watcher_of_pauses(process) : statistics_.chosen(process, family);
    if (chosen == nullptr) return nullptr;
    std::string others;
    for (const ScopeStatistics* other : statistics_.not_chosen(process, family))
      others += (others.empty() ? "; not added: what is recorded by " : ", ") + printable(other->scope->agent_name);
    line("\n%s (by %s%s)", std::string(family_name(family)).c_str(), printable(chosen->scope->agent_name).c_str(),
         others.c_str());
    return chosen;
  }
  void of_process(const std::string& process) {
    if (const auto* gc = section(process, Family::kGc)) pauses_of(*gc);
    if (tells_of_threads(process)) threads_of(*section(process, Family::kThreads));
    if (const auto* monitors = section(process, Family::kMonitors)) monitors_of(*monitors);
    if (const auto* calls = section(process, Family::kCalls)) calls_of(*calls);
    if (const auto* exceptions = section(process, Family::kExceptions)) out_ += exceptions_of(*exceptions, rows_);
    if (const auto* allocations = section(process, Family::kAllocations)) allocations_of(*allocations);
    if (const auto* heap = section(process, Family::kHeap)) {
      line("  %14s %12s  %s", "BYTES", "INSTANCES", "CLASS");
      each_of(heap_rows(*heap, rows_), [this](const HeapRow& row) {
        line("  %14llu %12llu  %s", static_cast<unsigned long long>(row.value.bytes),
             static_cast<unsigned long long>(row.value.count), printable(row.key).c_str());
      });
    }
    if (const auto* counters = section(process, Family::kCounters)) counters_of(*counters);
    if (const auto* stacks = section(process, Family::kStacks)) stacks_of(*stacks);
  }
  void pauses_of(const ScopeStatistics& statistics) {
    if (statistics.gc.count == 0) {
      line("  %s",
           !statistics.scope->losses.any() && statistics.gc_missed == 0 ? "no pauses" : "no pause was recorded");
      if (statistics.gc_missed == 0 && statistics.collections.empty()) return;
    } else {
      line("  %s, %s s in all, longest %s s", counted(statistics.gc.count, "pause").c_str(),
           seconds(statistics.gc.total).c_str(), seconds(statistics.gc.longest).c_str());
    }
    if (statistics.gc_without_start != 0)
      line("  %llu of them have no start in the trace, and count as 0 s",
           static_cast<unsigned long long>(statistics.gc_without_start));
    out_ += pauses_text(statistics, rows_);
  }
  void allocations_of(const ScopeStatistics& statistics) {
    for (const std::string& note :
         {statistics.allocation_note(), statistics.cut_stacks_note(), statistics.filters_note()})
      if (!note.empty()) line("  %s", note.c_str());
    const auto table = [&](const char* what, const std::map<std::string, Allocated>& rows) {
      line("  %14s %12s %10s  %s", "BYTES", "OBJECTS", "RECORDED", what);
      each_of(allocated_rows(rows, rows_), [this](const ClassRow& row) {
        line("  %14llu %12llu %10llu  %s", static_cast<unsigned long long>(rounded(row.value.bytes)),
             static_cast<unsigned long long>(rounded(row.value.objects)),
             static_cast<unsigned long long>(row.value.elements), printable(row.key).c_str());
      });
    };
    table("CLASS", statistics.allocations);
    if (!statistics.sites.empty()) table("SITE", statistics.sites);
  }
  void counters_of(const ScopeStatistics& statistics) {
    line("  %20s %20s %20s %20s  %s", "FIRST", "LAST", "LEAST", "GREATEST", "COUNTER");
    each_of(counter_rows(statistics, rows_), [this](const CounterRow& row) {
      const CounterSeries& series = row.value;
      if (series.samples == 0) line("  %s = %s", printable(row.key).c_str(), printable(series.text).c_str());
      else
        line("  %20lld %20lld %20lld %20lld  %s", static_cast<long long>(series.first),
             static_cast<long long>(series.last), static_cast<long long>(series.least),
             static_cast<long long>(series.greatest), printable(row.key).c_str());
    });
  }
  void stacks_of(const ScopeStatistics& statistics) {
    line("  %10s %-9s  %s", "FRAMES", "STATE", "THREAD");
    std::size_t count = 0;
    for (const auto& [id, thread] : statistics.stacks) {
      if (++count > rows_) continue;
      line("  %10zu %-9s  %s", thread.frames.size() + thread.deeper, std::string(state_name(thread.state)).c_str(),
           printable(statistics.scope->thread_name(id)).c_str());
    }
    out_ += more_rows(rows_left_out(count, rows_));
    for (const auto& circle : statistics.deadlocks()) {
      std::string text = "  deadlock:";
      for (const std::uint64_t id : circle) text += " " + printable(statistics.scope->thread_name(id)) + " ->";
      line("%s %s", text.c_str(), printable(statistics.scope->thread_name(circle.front())).c_str());
    }
  }
  // Otherwise it has one row, of one thread with its events.
  bool tells_of_threads(const std::string& process) const {
    const ScopeStatistics* chosen = statistics_.chosen(process, Family::kThreads);
    if (chosen == nullptr) return false;
    const Recorded recorded = recorded_of(*chosen);
    return chosen->threads.size() > 1 || recorded.blocked || recorded.waiting || recorded.sleeping ||
           recorded.allocations;
  }
  void threads_of(const ScopeStatistics& statistics) {
    // An estimate must not look like a counted number.
    const bool estimated = statistics.allocation_kind == AllocationKind::kSampled;
    const Recorded recorded = recorded_of(statistics);
    const auto time = [](bool is_known, const Waits& waits) { return is_known ? seconds(waits.total) : "-"; };
    bool lacks_older = false;
    line("  %10s %12s %12s %12s %14s  %s", "EVENTS", "BLOCKED s", "WAITING s", "SLEEPING s",
         estimated ? "ALLOCATED est." : "ALLOCATED", "THREAD");
    each_of(thread_rows(statistics, rows_), [&](const ThreadRow& row) {
      line("  %10llu %12s %12s %12s %14s  %s", static_cast<unsigned long long>(row.value.events),
           time(recorded.blocked, row.value.blocked).c_str(), time(recorded.waiting, row.value.waiting).c_str(),
           time(recorded.sleeping, row.value.sleeping).c_str(), allocated(recorded, row.value).c_str(),
           printable(statistics.scope->thread_name(row.key)).c_str());
      lacks_older |= recorded.allocations && !knows_allocations(recorded, row.value);
    });
    if (lacks_older) line("  %s", "ALLOCATED -: the thread ran before the trace, and no allocation of it is recorded");
    if (statistics.scope->has_events_option) out_ += not_recorded(recorded);
    else if (!(recorded.blocked && recorded.waiting && recorded.sleeping && recorded.allocations))
      line("  %s", "-: the trace has none");
  }
  static std::string allocated(const Recorded& recorded, const ThreadStatistics& thread) {
    return knows_allocations(recorded, thread) ? std::to_string(rounded(thread.allocated_bytes)) : "-";
  }
  static std::string not_recorded(const Recorded& recorded) {
    std::string words;
    const auto add = [&](bool is_known, const char* word) {
      if (!is_known) words.append(words.empty() ? "" : ", ").append(word);
    };
    add(recorded.blocked && recorded.waiting, "monitors");
    add(recorded.sleeping, "sleeps");
    add(recorded.allocations, "objects or allocations");
    return words.empty() ? "" : "  -: not recorded (--events " + words + ")\n";
  }
  void monitors_of(const ScopeStatistics& statistics) {
    waits_of(statistics.contention, "BLOCKED s", "CLASS OF THE MONITOR OR LOCK");
    short_contentions_of(*statistics.scope);
    if (!statistics.waited_for.empty())
      line("  %10s %12s %12s  %s", "TIMES", "WAITED s", "LONGEST s", "WAITING THREAD for OWNER when the wait began");
    bool lacks_owners = false;
    each_of(wait_rows<PairRow>(statistics.waited_for, rows_), [&](const PairRow& row) {
      lacks_owners = lacks_owners || row.key.second == 0;
      line("  %10llu %12s %12s  %s for %s", static_cast<unsigned long long>(row.value.count),
           seconds(row.value.total).c_str(), seconds(row.value.longest).c_str(),
           printable(statistics.scope->thread_name(row.key.first)).c_str(),
           row.key.second == 0 ? "?" : printable(statistics.scope->thread_name(row.key.second)).c_str());
    });
    if (lacks_owners && statistics.scope->could_have_owners()) line("  ?: %s", std::string(kOwnersNote).c_str());
    if (lacks_owners && statistics.scope->hides_virtual_owners())
      line("  ?: %s", std::string(kVirtualOwnersNote).c_str());
    if (statistics.waited_for.size() > 1) owners_of(statistics);
    waits_of(statistics.waits, "WAITED s", "CLASS WAITED ON (Object.wait, parks for no lock that a thread had)");
    if (statistics.waits.contains("?"))
      line("  %s", "?: no object, as in LockSupport.parkNanos(TIME), or one that the trace lacks");
    if (const Waits& carriers = statistics.carrier_waits; carriers.count != 0)
      line("  %s of carriers of virtual threads, %s s in all, %s left out: the table has those of the virtual threads",
           counted(carriers.count, "wait").c_str(), seconds(carriers.total).c_str(), is_are(carriers.count).c_str());
  }
  void owners_of(const ScopeStatistics& statistics) {
    const Rows<OwnerRow> owners = owner_rows(statistics, rows_);
    if (owners.shown.empty()) return;
    line("  %10s %12s %12s  %s", "TIMES", "WAITED s", "LONGEST s",
         "OWNER when the wait began, all that waited together");
    each_of(owners, [&](const OwnerRow& row) {
      line("  %10llu %12s %12s  %s", static_cast<unsigned long long>(row.value.count), seconds(row.value.total).c_str(),
           seconds(row.value.longest).c_str(), printable(statistics.scope->thread_name(row.key)).c_str());
    });
  }
  void waits_of(const std::map<std::string, Waits>& waits, const char* verb, const char* what) {
    if (!waits.empty()) line("  %10s %12s %12s  %s", "TIMES", verb, "LONGEST s", what);
    each_of(wait_rows<MonitorRow>(waits, rows_), [this](const MonitorRow& row) {
      line("  %10llu %12s %12s  %s", static_cast<unsigned long long>(row.value.count), seconds(row.value.total).c_str(),
           seconds(row.value.longest).c_str(), printable(row.key).c_str());
    });
  }
  // Their shares may differ from class to class.
  void short_contentions_of(const Scope& scope) {
    const std::string note = scope.short_contentions_note();
    if (note.empty()) return;
    line("  %s (--min-contention):", note.c_str());
    each_of(short_contention_rows(scope, rows_), [this](const ShortContentionRow& row) {
      line("  %10llu %12s %12s  %s", static_cast<unsigned long long>(row.value.count), seconds(row.value.total).c_str(),
           "-", row.key.empty() ? "(other classes)" : printable(row.key).c_str());
    });
  }
  void calls_of(const ScopeStatistics& statistics) {
    line("  %10s %12s %12s %12s  %s", "CALLS", "SELF s", "TOTAL s", "COUNTED", "METHOD");
    const bool has_calls = recorded_of(statistics).calls;
    const auto of_calls = [&](const std::string& text) { return has_calls ? text : "-"; };
    each_of(method_rows(statistics, rows_), [&](const MethodRow& row) {
      line("  %10s %12s %12s %12s  %s", of_calls(std::to_string(row.value.calls)).c_str(),
           of_calls(seconds(row.value.self)).c_str(), of_calls(seconds(row.value.total)).c_str(),
           row.value.has_count ? std::to_string(row.value.counted).c_str() : "-",
           printable(statistics.scope->method_name(row.key)).c_str());
    });
    if (const Recorded recorded = recorded_of(statistics); recorded.calls && !recorded.blocked)
      line("%s",
           "  a wait for the lock of a synchronized method counts for its caller: without monitors nothing tells "
           "(--events methods,monitors)");
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

}  // namespace

std::string statistics_text(const Statistics& statistics, std::size_t rows) {
  return TextView(statistics, rows).text();
}

}  // namespace jtrace::trace::io
