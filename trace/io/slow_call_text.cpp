#include "trace/io/slow_call_text.h"

#include <cstdio>

#include "base/strings.h"
#include "trace/io/statistics_rows.h"

namespace jtrace::trace::io {
namespace {

std::string call_text(const Scope& scope, const auto& call) {  // a SlowCall or a callee of one
  const std::string arguments = call.arguments.empty() ? "" : "(" + call.arguments + ")";
  return printable(scope.method_name(call.method) + arguments);
}

std::string of_longest(const ScopeStatistics& statistics, const SlowCall& call, ThreadState state) {
  if (call.longest.state != state) return {};
  const std::string monitor = Statistics::monitor_class(*statistics.scope, call.longest.monitor);
  std::string more = monitor == "?" ? "" : " for a " + monitor;
  if (call.longest.owner != 0) more += " that \"" + statistics.scope->thread_name(call.longest.owner) + "\" had";
  return more;
}

std::string wait_text(const ScopeStatistics& statistics, const SlowCall& call) {
  std::string text;
  const auto add = [&](const char* what, std::uint64_t ns, const std::string& more = {}) {
    if (ns != 0) text += (text.empty() ? "" : ", ") + std::string(what) + " " + millis(ns) + " ms" + more;
  };
  add("blocked", call.blocked, of_longest(statistics, call, ThreadState::kBlocked));
  add("waiting", call.waiting, of_longest(statistics, call, ThreadState::kWaiting));
  add("sleeping", call.sleeping);
  add("pauses", call.paused);
  if (call.waits_cut) text += " (of its thread's last " + std::to_string(SlowCalls::kMaxWaits) + " waits)";
  if (const std::uint64_t others = statistics.slow.held_up_others(call); others != 0)
    text += (text.empty() ? "" : "; ") + std::string("others waited ") + millis(others) + " ms for its thread";
  return text;
}

}  // namespace

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
  std::string out = call_text(scope, call) + "  in \"" + printable(scope.thread_name(call.thread)) + "\"";
  if (const std::string waits = wait_text(statistics, call); !waits.empty()) out += line + printable(waits);
  for (const SlowCall::Callee& callee : call.below)
    out += line + "below it " + call_text(scope, callee) + " " + millis(callee.duration) + " ms";
  return out + '\n';
}

void write_call(JsonWriter& json, const ScopeStatistics& statistics, const SlowCall& call) {
  const Scope& scope = *statistics.scope;
  json.begin_object().member("start", as_seconds(call.start)).member("seconds", as_seconds(call.duration));
  json.member("ended", !call.unfinished).member("method", scope.method_name(call.method));
  json.member("arguments", call.arguments).member("threadId", call.thread);
  json.member("thread", scope.thread_name(call.thread)).member("blocked", as_seconds(call.blocked));
  json.member("waiting", as_seconds(call.waiting)).member("sleeping", as_seconds(call.sleeping));
  json.member("paused", as_seconds(call.paused));
  json.member("heldUpOthers", as_seconds(statistics.slow.held_up_others(call)));
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

}  // namespace jtrace::trace::io
