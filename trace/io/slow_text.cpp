#include "trace/io/slow_text.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "base/jdk_names.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "trace/filter_example.h"
#include "trace/io/call_percentile.h"
#include "trace/io/slow_arguments.h"
#include "trace/io/slow_call_text.h"
#include "trace/io/slow_counts.h"
#include "trace/io/slow_idle.h"
#include "trace/io/slow_locks.h"
#include "trace/io/statistics_rows.h"
#include "trace/io/table_rows.h"
#include "trace/methods_with_callouts.h"
#include "trace/record/control.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kLocksShown = 5;
constexpr std::size_t kSlowestSeen = 5;  // shown if no call took as long as was asked for

struct Chosen {
  std::vector<const SlowCall*> ended, open;
  IdleCalls idle;
  std::vector<CommonArguments> common;      // of all slow calls, those of more rows included
  std::vector<const SlowCall*> first = {};  // of `ended`, as SlowLimits::first
  std::size_t all = 0, all_open = 0;        // number of calls of that duration, and of those that had not ended
  bool is_slow = true;                      // false: there was none; these are the slowest calls seen
  bool idle_is_slow = false;                // there were idle calls of that duration
};

// Of each method first the longest few: the many calls of one method do not hide the others. Longest first.
void keep_rows(std::vector<const SlowCall*>& calls, std::size_t rows) {
  constexpr std::size_t kFew = 3, kShare = 4;
  if (calls.size() <= rows) return;
  const std::size_t most = std::max(kFew, rows / kShare);
  std::unordered_map<std::uint64_t, std::size_t> taken;
  std::vector<const SlowCall*> kept, rest;
  for (const SlowCall* call : calls) (taken[call->method]++ < most ? kept : rest).push_back(call);
  kept.insert(kept.end(), rest.begin(), rest.end());
  kept.resize(rows);
  calls = std::move(kept);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const SlowCall* a, const SlowCall* b) { return a->duration > b->duration; });
}

Chosen choose(const ScopeStatistics& statistics, const SlowLimits& limits) {
  const auto which = limits.with_idle ? SlowCalls::Which::kAll : SlowCalls::Which::kBusy;
  Chosen chosen{statistics.slow.longest_first(limits.over, false, which),
                statistics.slow.longest_first(limits.over, true, which),
                IdleCalls(),
                {}};
  std::size_t rows = limits.rows;
  if (!limits.with_idle) chosen.idle = divide_idle_calls(statistics, limits.over, rows, chosen.ended);
  chosen.all = chosen.ended.size();
  chosen.all_open = chosen.open.size();
  chosen.idle_is_slow = chosen.idle.all != 0;
  if (limits.over != 0) chosen.common = common_arguments(chosen.ended);
  if (chosen.ended.empty() && limits.over != 0) {
    chosen.is_slow = false;
    chosen.ended = statistics.slow.longest_first(0, false, which);
    rows = std::min(rows, kSlowestSeen);
    if (!limits.with_idle && chosen.idle.all == 0) chosen.idle = divide_idle_calls(statistics, 0, rows, chosen.ended);
  }
  chosen.first = chosen.ended;
  keep_rows(chosen.first, limits.first);
  keep_rows(chosen.ended, rows);
  if (chosen.open.size() > kSlowestSeen) chosen.open.resize(kSlowestSeen);
  return chosen;
}

// Those whose calls are idle come last.
using SlowMethod = std::pair<std::uint64_t, const Durations*>;
Rows<SlowMethod> slow_methods(const ScopeStatistics& statistics, const SlowLimits& limits) {
  Rows<SlowMethod> methods;
  for (const auto& [id, durations] : statistics.slow.methods()) methods.shown.emplace_back(id, &durations);
  std::sort(methods.shown.begin(), methods.shown.end(), [](const SlowMethod& a, const SlowMethod& b) {
    return std::pair(b.second->longest(), a.first) < std::pair(a.second->longest(), b.first);
  });
  if (!limits.with_idle) {
    const auto idle = idle_methods(statistics);
    std::stable_partition(methods.shown.begin(), methods.shown.end(),
                          [&](const SlowMethod& each) { return idle.count(each.first) == 0; });
  }
  methods.limit(limits.rows);
  return methods;
}

bool has_counts(const ScopeStatistics& statistics, const Rows<SlowMethod>& methods) {
  return std::any_of(methods.begin(), methods.end(),
                     [&](const SlowMethod& each) { return counted_calls(statistics, each.first).has_value(); });
}

// " in 10.0 s, 1.3 a second".
std::string rate_text(const Scope& scope, std::size_t calls) {
  if (scope.length() == 0) return {};
  const double seconds = static_cast<double>(scope.length()) / 1e9;
  char text[64];
  std::snprintf(text, sizeof text, " in %.1f s, %.*f a second", seconds, static_cast<double>(calls) < seconds ? 2 : 1,
                static_cast<double>(calls) / seconds);
  return text;
}

void append_call(std::string& out, const ScopeStatistics& statistics, const SlowCall& call) {
  constexpr std::size_t kMargin = 31;
  const std::string marks =
      std::string(may_be_slow_by_callouts(*statistics.scope, call) ? "*" : "") + (call.unfinished ? ">" : "");
  out += "  " + time_of_day(call.start) + right_aligned(marks + millis(call.duration), 15) + "  " +
         call_lines(statistics, call, kMargin);
}

// All calls whose lines are shown.
std::vector<const SlowCall*> shown_calls(const Chosen& chosen) {
  std::vector<const SlowCall*> calls = chosen.ended;
  calls.insert(calls.end(), chosen.open.begin(), chosen.open.end());
  for (const IdleMethod& each : chosen.idle.methods) calls.push_back(each.longest);
  return calls;
}

OpaqueArguments opaque_in(const std::vector<const SlowCall*>& calls) {
  OpaqueArguments all;
  const auto add = [&](const std::string& arguments) {
    const OpaqueArguments found = opaque_arguments(arguments);
    all.objects = all.objects || found.objects;
    all.unread = all.unread || found.unread;
  };
  for (const SlowCall* call : calls) {
    add(call->arguments);
    for (const SlowCall::Callee& callee : call->below) add(callee.arguments);
  }
  return all;
}

bool has_text_arguments(const SlowCall& call) {
  const auto has_text = [](const auto& each) { return each.arguments.find('"') != std::string::npos; };
  return has_text(call) || std::any_of(call.below.begin(), call.below.end(), has_text);
}

// "": the calls have their arguments, none are wanted, or the trace does not say whether they were asked for.
std::string lack_of_arguments(const ScopeStatistics& statistics, const SlowLimits& limits) {
  const Scope& scope = *statistics.scope;
  if (limits.no_arguments || scope.has_arguments || !scope.has_events_option) return {};
  std::string slowest;  // the class, of the program rather than the JDK
  for (const SlowCall* call : statistics.slow.longest_first(0, false, SlowCalls::Which::kAll)) {
    const auto method = scope.methods.find(call->method);
    if (method == scope.methods.end()) continue;
    slowest = scope.class_name(method->second.class_id);
    if (!is_of_the_jdk(slowest)) break;
  }
  return "  the calls are without arguments: jtrace slow PID reads them with --filter '" + filter_example(slowest) +
         "', jtrace attach with --arguments\n";
}

// The groups of --events with waits that the trace does not have; "": all, or it does not say.
std::string waits_not_recorded(const Scope& scope) {
  std::string groups;
  const auto add = [&](std::uint64_t events, const char* group) {
    if (scope.has_events_option && (scope.asked_events & events) == 0)
      groups.append(groups.empty() ? "" : ",").append(group);
  };
  add(record::kMonContendedEnteredEvent | record::kMonWaitedEvent, "monitors");
  add(record::kSleepEvent, "sleeps");
  add(record::kParkEvent, "parks");
  return groups;
}

// Explains what of the lines above explains nothing itself, once.
std::string footnotes(const ScopeStatistics& statistics, const Chosen& chosen) {
  const auto calls = shown_calls(chosen);
  const auto any = [&](auto&& is) {
    return std::any_of(calls.begin(), calls.end(), [&](auto* call) { return is(*call); });
  };
  std::string out;
  if (any([&](const SlowCall& call) { return may_be_slow_by_callouts(*statistics.scope, call); }))
    out += "  * may be slow because of jtrace: it began in the first " + limit_text(kSettling) +
           " of the trace, when the JVM had to compile\n    its classes anew, with their callouts; a trace that lasts "
           "longer tells\n";
  if (any(names_owner)) out += "  a thread \"had\" it when the wait began\n";
  if (statistics.scope->hides_virtual_owners() && any(lacks_owner))
    out +=
        "  blocked and no owner: " + std::string(kVirtualOwnersNote) + "; the table of locks is without these waits\n";
  if (any(shows_other))
    out += any([](const SlowCall& call) { return call.cpu.has_value(); })
               ? "  other: ready for a processor, or in native code that waits\n"
               : "  other: on a processor, ready for one, or in native code; with --cpu-time the trace tells the "
                 "first, with "
                 "--io reads and writes of sockets and files\n";
  if (const std::string groups = waits_not_recorded(*statistics.scope); !groups.empty() && any(shows_other))
    out += "  and what was not recorded is in other too: --events " + groups + "\n";
  if (any(has_text_arguments))
    out +=
        "  texts among the arguments are shown as they are, secrets too: --no-arguments of jtrace slow leaves them "
        "out\n";
  const OpaqueArguments opaque = opaque_in(calls);
  if (opaque.objects)
    out += "  #7: an object, by its number in the trace; numbers and texts are shown, objects are not\n";
  if (opaque.unread)
    out +=
        "  a type (or ?) in the place of an argument: an array, or an object of a class without callouts: the "
        "trace has neither its value nor a number for it\n";
  return out;
}

// The longest are kept: of calls of that duration there were more.
bool are_more(const ScopeStatistics& statistics, const Chosen& chosen, const SlowLimits& limits) {
  const SlowCalls& slow = statistics.slow;
  const std::uint64_t idle = limits.with_idle || chosen.idle.has_exceptions ? slow.longest_left_out(true) : 0;
  return limits.over != 0 && std::max(slow.longest_left_out(false), idle) >= limits.over;
}

// Of the option slower-than, which has seconds: "50 ms".
std::string recorded_from(const std::string& slower_than) {
  const auto ns = parse_seconds(slower_than);
  return ns ? limit_text(*ns) : slower_than + " s";
}

std::string headline(const ScopeStatistics& statistics, const Chosen& chosen, const SlowLimits& limits) {
  std::string text;
  const bool more = are_more(statistics, chosen, limits);
  if (limits.over == 0) text = "the slowest of the calls";
  else if (!chosen.is_slow)
    text = (!statistics.scope->losses.any() ? "no call took " : "no call that was recorded took ") +
           limit_text(limits.over) + (chosen.idle_is_slow ? " but idle ones" : "") +
           (chosen.ended.empty() && chosen.open.empty() ? "" : "; the slowest seen");
  else
    text = (more ? "more than " : "") + counted(chosen.all, "call") + " of " + limit_text(limits.over) + " and more" +
           (more ? "" : rate_text(*statistics.scope, chosen.all));
  if (const std::string& all = statistics.scope->slower_than; !all.empty())
    text += " (the trace has those of " + recorded_from(all) + " and more" +
            (chosen.is_slow ? "" : statistics.scope->longest_note()) + ", and their callers)";
  return text;
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
  if (chosen.ended.empty() && chosen.open.empty() && chosen.idle.all == 0) return {};
  std::string out = "  " + headline(statistics, chosen, limits) + "\n";
  if (const std::string note = statistics.scope->short_contentions_note(); !note.empty())
    out += "  " + note + ": what calls waited for is without them\n";
  if (!chosen.ended.empty() || !chosen.open.empty()) out += "  TIME OF DAY (UTC)  TOOK ms  CALL\n";
  for (const SlowCall* call : chosen.ended) append_call(out, statistics, *call);
  if (chosen.is_slow && limits.over != 0) out += more_rows(rows_left_out(chosen.all, limits.rows));
  for (const SlowCall* call : chosen.open) append_call(out, statistics, *call);
  if (!chosen.open.empty())
    out += "  > had not ended when the trace did, when events of its thread were lost or the trace was paused\n";
  if (const std::size_t more = chosen.all_open - chosen.open.size(); more != 0)
    out += "  " + std::to_string(more) + " more had not ended\n";
  out += common_arguments_text(*statistics.scope, chosen.common);
  out += idle_calls_text(statistics, chosen.idle) + footnotes(statistics, chosen);
  const Rows<SlowMethod> methods = slow_methods(statistics, limits);
  if (methods.shown.empty()) return out;
  const bool counts = has_counts(statistics, methods);
  if (const std::string& least = statistics.scope->slower_than; !least.empty())
    out += "  of the calls of " + recorded_from(least) + " and more" + statistics.scope->longest_note() +
           ", the only ones that were recorded" +
           (counts ? "; percentiles with those that were only counted (OF SO MANY)" : "") + ":\n";
  out += std::string("       CALLS") + (counts ? " OF SO MANY" : "") +
         "   ~50 % ms   ~90 % ms   ~99 % ms LONGEST ms  METHOD (~: about, at most an eighth too high)\n";
  for (const auto& [id, times] : methods) {
    const auto all = counted_calls(statistics, id);
    const std::string of_all = right_aligned(all ? std::to_string(*all) : "-", 11);
    out += "  " + right_aligned(std::to_string(times->count()), 10) + (counts ? of_all : "");
    for (const double share : {0.5, 0.9, 0.99})
      out += right_aligned(percentile_text(call_percentile(statistics, id, share)), 11);
    out += right_aligned(millis(times->longest()), 11) + "  " + printable(statistics.scope->method_name(id)) + "\n";
  }
  return out + more_rows(methods.left_out);
}

namespace {

void write_first_calls(JsonWriter& json, const Chosen& chosen) {
  json.key("slowCallsFirst").begin_array();
  for (const SlowCall* call : chosen.first)
    if (const auto at = std::find(chosen.ended.begin(), chosen.ended.end(), call); at != chosen.ended.end())
      json.value(static_cast<std::uint64_t>(at - chosen.ended.begin()));
  json.end_array();
}

}  // namespace

void write_slow_calls(JsonWriter& json, const ScopeStatistics& statistics, const SlowLimits& limits) {
  const Chosen chosen = choose(statistics, limits);
  json.member("slowCallsAll", chosen.all).member("slowCallsOpen", chosen.all_open);
  json.member("slowCallsMore", are_more(statistics, chosen, limits)).key("slowCalls").begin_array();
  for (const SlowCall* call : chosen.ended) write_call(json, statistics, *call);
  for (const SlowCall* call : chosen.open) write_call(json, statistics, *call);
  json.end_array();
  if (limits.first != 0) write_first_calls(json, chosen);
  write_common_arguments(json, *statistics.scope, chosen.common);
  write_idle_calls(json, statistics, chosen.idle);
  const auto calls = shown_calls(chosen);
  if (statistics.scope->hides_virtual_owners() &&
      std::any_of(calls.begin(), calls.end(), [](const SlowCall* call) { return lacks_owner(*call); }))
    json.member("ownersNote", kVirtualOwnersNote);
  if (const auto all = statistics.scope->all_short_contentions(); all.count != 0)
    json.key("waitsWithout")
        .begin_object()
        .member("times", all.count)
        .member("total", as_seconds(all.total))
        .end_object();
  json.member("percentileError", Durations::kGreatestError).key("slowMethods").begin_array();
  const Rows<SlowMethod> methods = slow_methods(statistics, limits);
  for (const auto& [id, times] : methods) {
    json.begin_object().member("method", statistics.scope->method_name(id)).member("calls", times->count());
    if (const auto all = counted_calls(statistics, id)) json.member("allCalls", *all);
    json.member("p50", as_seconds(times->percentile(0.5))).member("p90", as_seconds(times->percentile(0.9)));
    json.member("p99", as_seconds(times->percentile(0.99))).member("longest", as_seconds(times->longest()));
    write_percentiles_of_all(json, statistics, id);
    json.end_object();
  }
  json.end_array();
  write_left_out(json, "slowMethods", methods.left_out);
}

bool lacks_slow_calls(const Statistics& statistics) {
  bool has_duration = false;
  for (const ScopeStatistics& each : statistics.by_scope()) {
    if (!each.slow.methods().empty() || !each.slow.longest_first(0, true).empty()) return false;
    has_duration |=
        each.scope != nullptr && each.scope->methods_with_callouts != 0u && !each.scope->slower_than.empty();
  }
  return has_duration;
}

std::string slow_text(const Statistics& statistics, const SlowLimits& limits) {
  const std::string rest =
      "not among them: " + not_listed(statistics) + "; jtrace stack PID or jtrace profile PID --wall shows what runs\n";
  std::string out;
  for (const std::string& process : statistics.process_ids())
    if (const ScopeStatistics* calls = statistics.chosen(process, Family::kCalls))
      if (const std::string text = slow_calls_text(*calls, limits); !text.empty())
        out += text + waited_locks_text(*calls, waited_locks(*calls, kLocksShown)) + lack_of_arguments(*calls, limits) +
               lost_events(*calls);
  if (!out.empty()) return out + rest;
  for (const ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr && each.scope->methods_with_callouts == 0u)
      return "no calls: " + std::string(kNoCallouts) + "\n" + lost_events(each);
  for (const ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr && !each.scope->slower_than.empty())
      return std::string(!each.scope->losses.any() ? "no call that ended took " : "no call that was recorded took ") +
             (each.scope->longest_from.empty() ? recorded_from(each.scope->slower_than)
                                               : "about " + recorded_from(each.scope->longest_from)) +
             " or more, the shortest time that was recorded; jtrace slow PID with a smaller --over records shorter "
             "ones\n" +
             lost_events(each) + rest;
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
    if (calls->scope->has_events_option) json.member("argumentsRecorded", calls->scope->has_arguments);
    write_slow_calls(json, *calls, limits);
    write_waited_locks(json, *calls, waited_locks(*calls, limits.rows));
    json.end_object();
  }
  json.end_array().end_object();
  return out + '\n';
}

}  // namespace jtrace::trace::io
