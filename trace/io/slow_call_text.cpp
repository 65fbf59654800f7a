#include "trace/io/slow_call_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/strings.h"
#include "trace/io/statistics_rows.h"
#include "trace/record/control.h"

namespace jtrace::trace::io {
namespace {

std::string call_text(const Scope& scope, const auto& call) {  // a SlowCall or a callee of one
  const std::string arguments = call.arguments.empty() ? "" : "(" + call.arguments + ")";
  return printable(scope.method_name(call.method) + arguments);
}

// ", ended by java.io.IOException"
std::string end_text(const auto& call) {  // as above
  if (call.exception.empty()) return {};
  return ", ended by " + (call.exception == "?" ? std::string("an exception") : printable(call.exception));
}

void write_end(JsonWriter& json, const auto& call) {
  if (call.exception.empty()) return;
  json.member("byException", true);
  if (call.exception != "?") json.member("exception", call.exception);
}

constexpr std::array<const char*, kWaitKinds> kWords = {"blocked", "waiting", "sleeping", "socket I/O", "file I/O"};

// Where and for what the longest wait of a kind was: " in Shop.take for a Shop$Stock that "clerk-1" had".
std::string of_longest(const ScopeStatistics& statistics, const SlowCall& call, const Wait& longest) {
  const Scope& scope = *statistics.scope;
  std::string more;
  if (longest.method != 0 && longest.method != call.method) more = " in " + scope.method_name(longest.method);
  if (const std::string lock = lock_name(scope, longest.monitor); !lock.empty()) more += " for " + lock;
  if (longest.owner != 0)
    more += " that \"" + scope.thread_name(longest.owner) + "\" had" + work_of_owner(statistics, longest);
  return more;
}

// If there were several, the details are those of the longest one.
std::string kind_text(const ScopeStatistics& statistics, const SlowCall& call, const SlowCall::Waited& waited) {
  const std::string more = of_longest(statistics, call, waited.longest);
  const bool is_all = waited.longest_ns() >= waited.ns / 100 * 99;
  return more.empty() || is_all ? more : " (longest " + millis(waited.longest_ns()) + " ms" + more + ")";
}

// " (young, G1 Evacuation Pause)"; of several that of the longest, with its duration.
std::string pause_text(const ScopeStatistics& statistics, const SlowCall& call) {
  const GcPause& longest = call.longest_pause;
  const std::string &kind = statistics.pause_texts[longest.kind], &cause = statistics.pause_texts[longest.cause];
  const std::string why = kind + (kind.empty() || cause.empty() ? "" : ", ") + cause;
  if (longest.duration == 0 || why.empty()) return {};
  const bool is_all = longest.duration >= call.paused / 100 * 99;
  return " (" + (is_all ? "" : "longest " + millis(longest.duration) + " ms ") + why + ")";
}

std::string wait_text(const ScopeStatistics& statistics, const SlowCall& call) {
  std::string text;
  const auto add = [&](const char* what, std::uint64_t ns, const std::string& more = {}) {
    if (ns != 0) text += (text.empty() ? "" : ", ") + std::string(what) + " " + millis(ns) + " ms" + more;
  };
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
    add(kWords[kind], call.waits[kind].ns, kind_text(statistics, call, call.waits[kind]));
  add("pauses", call.paused, pause_text(statistics, call));
  add("the process stood still", call.stopped);
  add("on a processor", call.cpu.value_or(0));
  if (shows_other(call)) add("other", call.other());
  if (call.waits_cut) text += " (of its thread's last " + std::to_string(SlowCalls::kMaxWaits) + " waits)";
  if (const std::uint64_t others = statistics.slow.held_up_others(call); others != 0)
    text += (text.empty() ? "" : "; ") + std::string("others waited ") + millis(others) + " ms for its thread";
  return text;
}

// Of what was not asked for, 0 s is not known. I/O is seen by calls.
constexpr std::array<std::uint64_t, kWaitKinds> kEventsOfWaits = {
    record::kMonContendedEnteredEvent, record::kMonWaitedEvent | record::kParkEvent, record::kSleepEvent,
    record::kMethodEvent, record::kMethodEvent};
bool may_be_recorded(const Scope& scope, std::uint64_t events) {
  return !scope.has_events_option || (scope.asked_events & events) != 0;
}

void write_waits(JsonWriter& json, const ScopeStatistics& statistics, const SlowCall& call) {
  const Scope& scope = *statistics.scope;
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
    if (may_be_recorded(scope, kEventsOfWaits[kind]) || call.waits[kind].ns != 0)
      json.member(wait_name(static_cast<WaitKind>(kind)), as_seconds(call.waits[kind].ns));
  if (may_be_recorded(scope, record::kGcEvent)) json.member("paused", as_seconds(call.paused));
  if (call.longest_pause.cause != 0) json.member("pauseCause", statistics.pause_texts[call.longest_pause.cause]);
  if (call.longest_pause.kind != 0) json.member("pauseKind", statistics.pause_texts[call.longest_pause.kind]);
  if (call.stopped != 0) json.member("processStopped", as_seconds(call.stopped));
  if (call.cpu) json.member("onProcessor", as_seconds(*call.cpu));
  json.member("other", as_seconds(call.other())).key("longestWaits").begin_array();
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind) {
    const Wait& longest = call.waits[kind].longest;
    if (call.waits[kind].ns == 0) continue;
    json.begin_object()
        .member("kind", wait_name(static_cast<WaitKind>(kind)))
        .member("seconds", as_seconds(call.waits[kind].longest_ns()));
    if (longest.method != 0) json.member("in", scope.method_name(longest.method));
    write_lock(json, scope, longest.monitor);
    if (longest.owner != 0) json.member("owner", scope.thread_name(longest.owner));
    if (longest.owner != 0) write_work_of_owner(json, statistics, longest);
    json.end_object();
  }
  json.end_array();
}

// The body of a lambda, or what the compiler made to reach a private method: its name says little.
bool is_made_by_compiler(const Scope& scope, std::uint64_t method) {
  const auto found = scope.methods.find(method);
  return found != scope.methods.end() &&
         (found->second.name.starts_with("lambda$") || found->second.name.starts_with("access$"));
}

// " > shop.Search.find("tea")", the first callee with a name of its own; "" if the call has one itself.
std::string named_callee(const Scope& scope, const SlowCall& call) {
  if (!is_made_by_compiler(scope, call.method)) return {};
  for (const SlowCall::Callee& callee : call.below)
    if (!is_made_by_compiler(scope, callee.method)) return " > " + call_text(scope, callee);
  return {};
}

}  // namespace

std::string work_of_owner(const ScopeStatistics& statistics, const Wait& wait) {
  const SlowCall* work = statistics.slow.call_of_owner(wait);
  if (work == nullptr) return {};
  return ", in " + statistics.scope->method_name(work->method) + " for " + millis(work->duration) + " ms";
}

void write_work_of_owner(JsonWriter& json, const ScopeStatistics& statistics, const Wait& wait) {
  if (const SlowCall* work = statistics.slow.call_of_owner(wait))
    json.member("ownerIn", statistics.scope->method_name(work->method))
        .member("ownerCallSeconds", as_seconds(work->duration));
}

bool shows_other(const SlowCall& call) { return call.other() > call.duration / 100; }

bool names_owner(const SlowCall& call) {
  return std::any_of(call.waits.begin(), call.waits.end(), [](const auto& each) { return each.longest.owner != 0; });
}

std::string lock_name(const Scope& scope, std::uint64_t monitor) {
  const auto known = scope.class_objects.find(monitor);
  if (known != scope.class_objects.end() && known->second != 0) return "the class " + scope.class_name(known->second);
  const std::string type = monitor == 0 ? "?" : type_of_object(scope, monitor);
  return type == "?" ? "" : "a " + type;
}

void write_lock(JsonWriter& json, const Scope& scope, std::uint64_t monitor) {
  if (monitor == 0) return;
  json.member("monitor", type_of_object(scope, monitor));
  const auto known = scope.class_objects.find(monitor);
  if (known != scope.class_objects.end() && known->second != 0)
    json.member("monitorOfClass", scope.class_name(known->second));
}

bool lacks_owner(const SlowCall& call) {
  const SlowCall::Waited& blocked = call.of(WaitKind::kBlocked);
  return blocked.ns > call.duration / 100 && blocked.longest.owner == 0;
}

bool may_be_slow_by_callouts(const Scope& scope, const SlowCall& call) {
  if (scope.methods_with_callouts.value_or(0) == 0 || !scope.start.present()) return false;
  return call.start < scope.start.ns() + kSettling && call.other() + call.cpu.value_or(0) >= call.duration / 2;
}

std::string millis(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1e6);
  return text;
}

std::string limit_text(std::uint64_t ns) {
  char text[32];
  const bool in_seconds = ns >= 1'000'000'000;
  std::snprintf(text, sizeof text, "%g %s", static_cast<double>(ns) / (in_seconds ? 1e9 : 1e6),
                in_seconds ? "s" : "ms");
  return text;
}

std::string call_lines(const ScopeStatistics& statistics, const SlowCall& call, std::size_t margin) {
  const Scope& scope = *statistics.scope;
  const std::string line = "\n" + std::string(margin, ' ');
  std::string out = call_text(scope, call) + named_callee(scope, call) + "  in \"" +
                    printable(scope.thread_name(call.thread)) + "\"" + end_text(call);
  if (const std::string waits = wait_text(statistics, call); !waits.empty()) out += line + printable(waits);
  std::string depth;  // each is below the one before
  for (const SlowCall::Callee& callee : call.below) {
    out += line + depth + "below it " + call_text(scope, callee) + " " + millis(callee.duration) + " ms" +
           end_text(callee) + (callee.levels == 1 ? "" : ", which called itself " + counted(callee.levels - 1, "time"));
    depth += "  ";
  }
  if (call.below_left_out != 0) out += line + depth + "and " + counted(call.below_left_out, "call") + " more below it";
  return out + '\n';
}

void write_call(JsonWriter& json, const ScopeStatistics& statistics, const SlowCall& call) {
  const Scope& scope = *statistics.scope;
  json.begin_object().member("start", as_seconds(call.start)).member("seconds", as_seconds(call.duration));
  if (may_be_slow_by_callouts(scope, call)) json.member("mayBeSlowByCallouts", true);
  json.member("ended", !call.unfinished).member("method", scope.method_name(call.method));
  json.member("arguments", call.arguments).member("threadId", call.thread);
  json.member("thread", scope.thread_name(call.thread));
  write_end(json, call);
  write_waits(json, statistics, call);
  json.member("heldUpOthers", as_seconds(statistics.slow.held_up_others(call)));
  if (call.waits_cut) json.member("lastWaitsOnly", SlowCalls::kMaxWaits);
  const Wait& longest = call.longest().longest;
  write_lock(json, scope, longest.monitor);
  if (longest.owner != 0) json.member("owner", scope.thread_name(longest.owner));
  json.key("below").begin_array();
  for (const SlowCall::Callee& callee : call.below) {
    json.begin_object().member("method", scope.method_name(callee.method));
    json.member("arguments", callee.arguments).member("seconds", as_seconds(callee.duration));
    if (callee.levels != 1) json.member("levels", callee.levels);
    write_end(json, callee);
    json.end_object();
  }
  json.end_array();
  if (call.below_left_out != 0) json.member("belowLeftOut", call.below_left_out);
  json.end_object();
}

}  // namespace jtrace::trace::io
