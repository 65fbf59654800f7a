#include "trace/io/slow_locks.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "base/strings.h"
#include "trace/io/slow_call_text.h"
#include "trace/io/statistics_rows.h"

namespace jtrace::trace::io {
namespace {

// The time that the intervals cover. They are sorted by their begins.
std::uint64_t covered(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& intervals) {
  std::uint64_t sum = 0, until = 0;
  for (const auto& [since, end] : intervals) {
    if (end > until) sum += end - std::max(since, until);
    until = std::max(until, end);
  }
  return sum;
}

// "7.215 s (90 %)" of a trace of 8 s; without the share if it is more than all.
std::string time_text(std::uint64_t ns, std::uint64_t length) {
  char text[48];
  const double share = length == 0 ? 0 : 100 * static_cast<double>(ns) / static_cast<double>(length);
  if (length == 0 || share > 100) std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) / 1e9);
  else std::snprintf(text, sizeof text, "%.3f s (%.0f %%)", static_cast<double>(ns) / 1e9, share);
  return text;
}

// What all calls of the owner's method took, of all threads and with what they waited themselves. "": it is not known.
std::string all_calls_text(const ScopeStatistics& statistics, const WaitedLock& lock) {
  const SlowCall* work = statistics.slow.call_of_owner(lock.longest);
  const auto method = work == nullptr ? statistics.methods.end() : statistics.methods.find(work->method);
  if (method == statistics.methods.end() || method->second.calls < 2) return {};
  return "; all " + std::to_string(method->second.calls) + " calls of it took " +
         time_text(method->second.total, statistics.scope->length());
}

// 'java.lang.Object that "archive-1" had, in Journal.turnPage for 181.203 ms; all 40 calls of it took 7.215 s (90 %)'
std::string lock_text(const ScopeStatistics& statistics, const WaitedLock& lock) {
  const Scope& scope = *statistics.scope;
  std::string name = lock_name(scope, lock.monitor);
  if (name.starts_with("a ")) name.erase(0, 2);
  return printable((name.empty() ? std::string("a lock") : name) + " that \"" + scope.thread_name(lock.owner) +
                   "\" had" + work_of_owner(statistics, lock.longest) + all_calls_text(statistics, lock));
}

}  // namespace

std::vector<WaitedLock> waited_locks(const ScopeStatistics& statistics, std::size_t most) {
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // monitor, owner
  std::map<Key, WaitedLock> locks;
  std::map<Key, std::vector<std::pair<std::uint64_t, std::uint64_t>>> intervals;
  for (const auto& [owner, waits] : statistics.slow.waited_for())
    for (const Wait& wait : waits) {
      const Key key{wait.monitor, owner};
      WaitedLock& lock = locks[key];
      lock.monitor = wait.monitor;
      lock.owner = owner;
      const std::uint64_t ns = wait.until - wait.since;
      ++lock.waits;
      lock.total += ns;
      if (ns >= lock.longest.until - lock.longest.since) lock.longest = wait;
      intervals[key].emplace_back(wait.since, wait.until);
    }
  std::vector<WaitedLock> sorted;
  const std::uint64_t least = statistics.scope->length() / 100;
  for (auto& [key, lock] : locks) {
    auto& its = intervals[key];
    std::sort(its.begin(), its.end());
    lock.any = covered(its);
    if (lock.any >= least) sorted.push_back(lock);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const WaitedLock& a, const WaitedLock& b) { return a.any > b.any; });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

std::string waited_locks_text(const ScopeStatistics& statistics, const std::vector<WaitedLock>& locks) {
  if (locks.empty()) return {};
  const std::uint64_t length = statistics.scope->length();
  const auto& owners = statistics.slow.waited_for();
  const bool is_cut = std::any_of(owners.begin(), owners.end(),
                                  [](const auto& each) { return each.second.size() >= SlowCalls::kMaxWaits; });
  std::string out =
      "  locks that threads waited for, by who had them as the wait began" +
      (is_cut ? " (of the last " + std::to_string(SlowCalls::kMaxWaits) + " waits for each thread)" : std::string()) +
      "\n"
      "       WAITS   IN ALL ms LONGEST ms  SOMEBODY WAITED  THE LOCK\n";
  for (const WaitedLock& lock : locks) {
    out += "  " + right_aligned(std::to_string(lock.waits), 10) + right_aligned(millis(lock.total), 12) +
           right_aligned(millis(lock.longest.until - lock.longest.since), 11) +
           right_aligned(time_text(lock.any, length), 17) + "  " + lock_text(statistics, lock) + "\n";
  }
  return out;
}

void write_waited_locks(JsonWriter& json, const ScopeStatistics& statistics, const std::vector<WaitedLock>& locks) {
  const Scope& scope = *statistics.scope;
  json.key("locks").begin_array();
  for (const WaitedLock& lock : locks) {
    json.begin_object();
    write_lock(json, scope, lock.monitor);
    json.member("owner", scope.thread_name(lock.owner)).member("waits", lock.waits);
    json.member("seconds", as_seconds(lock.total))
        .member("longest", as_seconds(lock.longest.until - lock.longest.since))
        .member("somebodyWaited", as_seconds(lock.any));
    write_work_of_owner(json, statistics, lock.longest);
    json.end_object();
  }
  json.end_array();
}

}  // namespace jtrace::trace::io
