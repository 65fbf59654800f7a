#include "trace/io/slow_idle.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "trace/io/slow_call_text.h"
#include "trace/io/slow_counts.h"
#include "trace/io/statistics_rows.h"

namespace jtrace::trace::io {
namespace {

using Which = SlowCalls::Which;

std::vector<const SlowCall*> all_of(const ScopeStatistics& statistics, std::uint64_t over, Which which) {
  std::vector<const SlowCall*> calls = statistics.slow.longest_first(over, false, which);
  const auto open = statistics.slow.longest_first(over, true, which);
  calls.insert(calls.end(), open.begin(), open.end());
  return calls;
}

// Calls `f` for the method of each call and those below it.
void each_method(const std::vector<const SlowCall*>& calls, auto&& f) {
  for (const SlowCall* call : calls) {
    f(call->method);
    for (const SlowCall::Callee& callee : call->below) f(callee.method);
  }
}

// A method whose calls are shorter most of the time does not wait for work when it sleeps for so long: those that were
// only counted are shorter. Nor does one that sleeps several times as long as it does mostly.
bool is_unusual(const ScopeStatistics& statistics, const SlowCall& call, std::uint64_t over) {
  constexpr std::uint64_t kSeveral = 4;
  if (call.of(WaitKind::kSleeping).ns < call.duration / 2 || statistics.scope->losses.any()) return false;
  const auto times = statistics.slow.methods().find(call.method);
  if (times == statistics.slow.methods().end()) return false;
  if (call.duration / kSeveral >= times->second.percentile(0.5)) return true;
  return times->second.count() + quick_calls(statistics, call.method) > kSeveral * times->second.count_from(over);
}

// Moves the calls of methods of which `busy` has more to the end of `busy`.
void move_exceptions(const ScopeStatistics& statistics, std::uint64_t over, std::vector<const SlowCall*>& idle,
                     std::vector<const SlowCall*>& busy) {
  std::unordered_map<std::uint64_t, std::int64_t> others;  // by method: by how many more calls are not idle
  for (const SlowCall* call : busy) ++others[call->method];
  for (const SlowCall* call : idle) --others[call->method];
  const auto first = std::stable_partition(idle.begin(), idle.end(), [&](const SlowCall* call) {
    return others[call->method] <= 0 && !is_unusual(statistics, *call, over);
  });
  busy.insert(busy.end(), first, idle.end());
  idle.erase(first, idle.end());
}

}  // namespace

IdleCalls divide_idle_calls(const ScopeStatistics& statistics, std::uint64_t over, std::size_t rows,
                            std::vector<const SlowCall*>& busy) {
  std::vector<const SlowCall*> idle = statistics.slow.longest_first(over, false, Which::kIdle);
  const std::size_t all_idle = idle.size();
  move_exceptions(statistics, over, idle, busy);
  const bool has_exceptions = idle.size() != all_idle;
  std::stable_sort(busy.begin(), busy.end(),
                   [](const SlowCall* a, const SlowCall* b) { return a->duration > b->duration; });
  const auto open = statistics.slow.longest_first(over, true, Which::kIdle);
  idle.insert(idle.end(), open.begin(), open.end());
  IdleCalls made{.all = idle.size(), .has_exceptions = has_exceptions};
  std::unordered_map<std::uint64_t, IdleMethod> methods;
  std::unordered_map<std::uint64_t, std::unordered_set<std::uint64_t>> threads;
  for (const SlowCall* call : idle) {
    IdleMethod& method = methods[call->method];
    method.method = call->method;
    ++method.calls;
    method.total += call->duration;
    threads[call->method].insert(call->thread);
    if (method.longest == nullptr || call->duration > method.longest->duration) method.longest = call;
  }
  for (auto& [id, method] : methods) {
    method.threads = threads[id].size();
    made.methods.shown.push_back(method);
  }
  std::sort(made.methods.shown.begin(), made.methods.shown.end(), [](const IdleMethod& a, const IdleMethod& b) {
    return std::pair(b.longest->duration, a.method) < std::pair(a.longest->duration, b.method);
  });
  made.methods.limit(rows);
  const std::uint64_t left_out = statistics.slow.longest_left_out(true);
  made.are_more = left_out != 0 && left_out >= over;
  return made;
}

std::unordered_set<std::uint64_t> idle_methods(const ScopeStatistics& statistics) {
  std::unordered_set<std::uint64_t> methods;
  each_method(all_of(statistics, 0, Which::kIdle), [&](std::uint64_t id) { methods.insert(id); });
  each_method(all_of(statistics, 0, Which::kBusy), [&](std::uint64_t id) { methods.erase(id); });
  return methods;
}

std::string idle_calls_text(const ScopeStatistics& statistics, const IdleCalls& idle) {
  if (idle.all == 0) return {};
  constexpr std::size_t kMargin = 36;
  std::string out = std::string("  idle: ") + (idle.are_more ? "more than " : "") + counted(idle.all, "call") +
                    " that slept or waited for work all the time (" + std::to_string(SlowCall::kIdlePercent) +
                    " % and more of it), by method; jtrace slow --idle lists each\n" +
                    "       CALLS    THREADS LONGEST ms  THE LONGEST\n";
  for (const IdleMethod& each : idle.methods)
    out += "  " + right_aligned(std::to_string(each.calls), 10) + right_aligned(std::to_string(each.threads), 11) +
           right_aligned((each.longest->unfinished ? ">" : "") + millis(each.longest->duration), 11) + "  " +
           call_lines(statistics, *each.longest, kMargin);
  return out + more_rows(idle.methods.left_out);
}

void write_idle_calls(JsonWriter& json, const ScopeStatistics& statistics, const IdleCalls& idle) {
  json.member("idleCallsAll", idle.all).member("idleCallsMore", idle.are_more).key("idleCalls").begin_array();
  for (const IdleMethod& each : idle.methods) {
    json.begin_object().member("method", statistics.scope->method_name(each.method)).member("calls", each.calls);
    json.member("threads", each.threads).member("seconds", as_seconds(each.total)).key("longest");
    write_call(json, statistics, *each.longest);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "idleCalls", idle.methods.left_out);
}

}  // namespace jtrace::trace::io
