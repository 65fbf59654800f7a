#include "trace/io/slow_text.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "base/time_text.h"
#include "trace/io/statistics_rows.h"
#include "trace/io/table_rows.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kSlowestSeen = 5;  // shown if no call took as long as was asked for

std::string millis(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1e6);
  return text;
}
// As one would type it: "200 ms", "10 s".
std::string limit_text(std::uint64_t ns) {
  char text[32];
  const bool in_seconds = ns >= 1'000'000'000;
  std::snprintf(text, sizeof text, "%g %s", static_cast<double>(ns) / (in_seconds ? 1e9 : 1e6),
                in_seconds ? "s" : "ms");
  return text;
}
std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

struct Chosen {
  std::vector<const SlowCall*> ended, open;
  std::size_t all = 0, all_open = 0;  // number of calls of that duration, and of those that had not ended
  bool is_slow = true;                // false: there was none; these are the slowest calls seen
};

Chosen choose(const ScopeStatistics& statistics, const SlowLimits& limits) {
  Chosen chosen{statistics.slow.longest_first(limits.over, false), statistics.slow.longest_first(limits.over, true)};
  chosen.all = chosen.ended.size();
  chosen.all_open = chosen.open.size();
  std::size_t rows = limits.rows;
  if (chosen.ended.empty() && limits.over != 0) {
    chosen.is_slow = false;
    chosen.ended = statistics.slow.longest_first(0, false);
    rows = std::min(rows, kSlowestSeen);
  }
  if (chosen.ended.size() > rows) chosen.ended.resize(rows);
  if (chosen.open.size() > kSlowestSeen) chosen.open.resize(kSlowestSeen);
  return chosen;
}

using SlowMethod = std::pair<std::uint64_t, const Durations*>;
Rows<SlowMethod> slow_methods(const ScopeStatistics& statistics, std::size_t rows) {
  Rows<SlowMethod> methods;
  for (const auto& [id, durations] : statistics.slow.methods()) methods.shown.emplace_back(id, &durations);
  std::sort(methods.shown.begin(), methods.shown.end(), [](const SlowMethod& a, const SlowMethod& b) {
    return std::pair(b.second->longest(), a.first) < std::pair(a.second->longest(), b.first);
  });
  methods.limit(rows);
  return methods;
}

std::string wait_text(const ScopeStatistics& statistics, const SlowCall& call) {
  std::string text;
  const auto add = [&](const char* what, std::uint64_t ns, const std::string& more = {}) {
    if (ns != 0) text += (text.empty() ? "" : ", ") + std::string(what) + " " + millis(ns) + " ms" + more;
  };
  const auto of_longest = [&](ThreadState state) -> std::string {
    if (call.longest.state != state) return {};
    const std::string monitor = Statistics::monitor_class(*statistics.scope, call.longest.monitor);
    std::string more = monitor == "?" ? "" : " for a " + monitor;
    if (call.longest.owner != 0) more += " that \"" + statistics.scope->thread_name(call.longest.owner) + "\" had";
    return more;
  };
  add("blocked", call.blocked, of_longest(ThreadState::kBlocked));
  add("waiting", call.waiting, of_longest(ThreadState::kWaiting));
  add("sleeping", call.sleeping);
  add("pauses", call.paused);
  if (call.waits_cut) text += " (of its thread's last " + std::to_string(SlowCalls::kMaxWaits) + " waits)";
  return text;
}

// Of a SlowCall or a callee of one. Without parentheses if the trace has no arguments of it.
std::string call_text(const Scope& scope, const auto& call) {
  const std::string arguments = call.arguments.empty() ? "" : "(" + call.arguments + ")";
  return printable(scope.method_name(call.method) + arguments);
}

void append_call(std::string& out, const ScopeStatistics& statistics, const SlowCall& call) {
  const Scope& scope = *statistics.scope;
  const std::string margin = "\n                               ";
  out += "  " + time_of_day(call.start) + padded((call.unfinished ? ">" : "") + millis(call.duration), 15) + "  " +
         call_text(scope, call) + "  in \"" + printable(scope.thread_name(call.thread)) + "\"";
  if (const std::string waits = wait_text(statistics, call); !waits.empty()) out += margin + printable(waits);
  for (const SlowCall::Callee& callee : call.below)
    out += margin + "below it " + call_text(scope, callee) + " " + millis(callee.duration) + " ms";
  out += '\n';
}

bool names_owner(const Chosen& chosen) {
  const auto has_owner = [](const SlowCall* call) { return call->longest.owner != 0; };
  return std::any_of(chosen.ended.begin(), chosen.ended.end(), has_owner) ||
         std::any_of(chosen.open.begin(), chosen.open.end(), has_owner);
}

// The longest are kept: of calls of that duration there were more.
bool are_more(const ScopeStatistics& statistics, const SlowLimits& limits) {
  return limits.over != 0 && statistics.slow.longest_left_out() >= limits.over;
}

std::string headline(const ScopeStatistics& statistics, const Chosen& chosen, const SlowLimits& limits) {
  std::string text;
  if (limits.over == 0) text = "the slowest of the calls";
  else if (!chosen.is_slow) text = "no call took " + limit_text(limits.over) + "; the slowest seen";
  else
    text = (are_more(statistics, limits) ? "more than " : "") + std::to_string(chosen.all) +
           (chosen.all == 1 ? " call" : " calls") + " of " + limit_text(limits.over) + " and more";
  if (const std::string& all = statistics.scope->slower_than; !all.empty())
    text += " (the trace has those of " + all + " s and more, and their callers)";
  return text;
}

void write_call(JsonWriter& json, const ScopeStatistics& statistics, const SlowCall& call) {
  const Scope& scope = *statistics.scope;
  json.begin_object().member("start", as_seconds(call.start)).member("seconds", as_seconds(call.duration));
  json.member("ended", !call.unfinished).member("method", scope.method_name(call.method));
  json.member("arguments", call.arguments).member("threadId", call.thread);
  json.member("thread", scope.thread_name(call.thread)).member("blocked", as_seconds(call.blocked));
  json.member("waiting", as_seconds(call.waiting)).member("sleeping", as_seconds(call.sleeping));
  json.member("paused", as_seconds(call.paused));
  if (call.waits_cut) json.member("lastWaitsOnly", SlowCalls::kMaxWaits);
  if (call.longest.monitor != 0) json.member("monitor", Statistics::monitor_class(scope, call.longest.monitor));
  if (call.longest.owner != 0) json.member("owner", scope.thread_name(call.longest.owner));
  json.key("below").begin_array();
  for (const SlowCall::Callee& callee : call.below) {
    json.begin_object().member("method", scope.method_name(callee.method));
    json.member("arguments", callee.arguments).member("seconds", as_seconds(callee.duration)).end_object();
  }
  json.end_array().end_object();
}

// Of the option slower-than, which has seconds: "50 ms".
std::string recorded_from(const std::string& slower_than) {
  const auto ns = parse_seconds(slower_than);
  return ns ? limit_text(*ns) : slower_than + " s";
}

// The calls that no table can have. An entry of --slower-than is written when its call, or one below it, has ended.
std::string not_listed(const Statistics& statistics) {
  const auto only_slow = [](const ScopeStatistics& each) {
    return each.scope != nullptr && !each.scope->snapshot && !each.scope->slower_than.empty();
  };
  const bool late = std::any_of(statistics.by_scope().begin(), statistics.by_scope().end(), only_slow);
  return std::string("calls that began before the trace") +
         (late ? ", or had not ended (unless a call below them was recorded)" : "");
}

}  // namespace

std::string slow_calls_text(const ScopeStatistics& statistics, const SlowLimits& limits) {
  const Chosen chosen = choose(statistics, limits);
  if (chosen.ended.empty() && chosen.open.empty()) return {};
  std::string out = "  " + headline(statistics, chosen, limits) + "\n";
  if (const std::string note = statistics.scope->short_contentions_note(); !note.empty())
    out += "  " + note + ": what calls waited for is without them\n";
  out += "  TIME OF DAY (UTC)  TOOK ms  CALL\n";
  for (const SlowCall* call : chosen.ended) append_call(out, statistics, *call);
  if (chosen.is_slow && limits.over != 0) out += more_rows(rows_left_out(chosen.all, limits.rows));
  for (const SlowCall* call : chosen.open) append_call(out, statistics, *call);
  if (names_owner(chosen)) out += "  a thread \"had\" it when the wait began\n";
  if (!chosen.open.empty()) out += "  > had not ended when the trace did, or when events of its thread were lost\n";
  if (const std::size_t more = chosen.all_open - chosen.open.size(); more != 0)
    out += "  " + std::to_string(more) + " more had not ended\n";
  const Rows<SlowMethod> methods = slow_methods(statistics, limits.rows);
  if (methods.shown.empty()) return out;
  out += "       CALLS   ~50 % ms   ~90 % ms   ~99 % ms LONGEST ms  METHOD (~: about, at most an eighth too high)\n";
  for (const auto& [id, times] : methods)
    out += "  " + padded(std::to_string(times->count()), 10) + padded(millis(times->percentile(0.5)), 11) +
           padded(millis(times->percentile(0.9)), 11) + padded(millis(times->percentile(0.99)), 11) +
           padded(millis(times->longest()), 11) + "  " + printable(statistics.scope->method_name(id)) + "\n";
  return out + more_rows(methods.left_out);
}

void write_slow_calls(JsonWriter& json, const ScopeStatistics& statistics, const SlowLimits& limits) {
  const Chosen chosen = choose(statistics, limits);
  json.member("slowCallsAll", chosen.all).member("slowCallsOpen", chosen.all_open);
  json.member("slowCallsMore", are_more(statistics, limits)).key("slowCalls").begin_array();
  for (const SlowCall* call : chosen.ended) write_call(json, statistics, *call);
  for (const SlowCall* call : chosen.open) write_call(json, statistics, *call);
  json.end_array();
  if (const auto all = statistics.scope->all_short_contentions(); all.count != 0)
    json.key("waitsWithout")
        .begin_object()
        .member("times", all.count)
        .member("total", as_seconds(all.total))
        .end_object();
  json.member("percentileError", Durations::kGreatestError).key("slowMethods").begin_array();
  const Rows<SlowMethod> methods = slow_methods(statistics, limits.rows);
  for (const auto& [id, times] : methods) {
    json.begin_object().member("method", statistics.scope->method_name(id)).member("calls", times->count());
    json.member("p50", as_seconds(times->percentile(0.5))).member("p90", as_seconds(times->percentile(0.9)));
    json.member("p99", as_seconds(times->percentile(0.99))).member("longest", as_seconds(times->longest()));
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "slowMethods", methods.left_out);
}

std::string slow_text(const Statistics& statistics, const SlowLimits& limits) {
  const std::string rest =
      "not among them: " + not_listed(statistics) + "; jtrace stack PID or jtrace profile PID --wall shows what runs\n";
  std::string out;
  for (const std::string& process : statistics.process_ids())
    if (const ScopeStatistics* calls = statistics.chosen(process, Family::kCalls))
      if (const std::string text = slow_calls_text(*calls, limits); !text.empty()) out += text + lost_events(*calls);
  if (!out.empty()) return out + rest;
  for (const ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr && !each.scope->slower_than.empty())
      return "no call that ended took " + recorded_from(each.scope->slower_than) +
             " or more, the shortest time that was recorded\n" + lost_events(each) + rest;
  out = "no calls in the trace" + recorded_without(statistics, Family::kCalls) + "\n";
  for (const ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr) out += lost_events(each);
  return out;
}

std::string slow_json(const Statistics& statistics, std::string_view input, const SlowLimits& limits) {
  std::string out;
  JsonWriter json(out);
  begin_trace_view(json, "slow", statistics, input);
  json.member("notListed", not_listed(statistics));
  json.key("data").begin_array();
  for (const std::string& process : statistics.process_ids()) {
    const ScopeStatistics* calls = statistics.chosen(process, Family::kCalls);
    if (calls == nullptr) continue;
    json.begin_object().member("processId", process).member("overSeconds", as_seconds(limits.over));
    write_slow_calls(json, *calls, limits);
    json.end_object();
  }
  json.end_array().end_object();
  return out + '\n';
}

}  // namespace jtrace::trace::io
