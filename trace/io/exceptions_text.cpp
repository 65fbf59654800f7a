#include "trace/io/exceptions_text.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/strings.h"
#include "trace/io/table_rows.h"
#include "trace/io/thread_groups.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kShownMessages = 3, kShownGroups = 3, kShownCallers = 3;  // of a row of text
constexpr std::size_t kListedThreads = 50;                                      // of JSON

std::string site_text(const Scope& scope, const ExceptionSite& site) {
  std::string text = scope.method_name(site.method);
  if (site.line != 0) text += ":" + std::to_string(site.line);
  return text;
}

// Thread.run, with callouts, was the last method that it left: under it is the JVM alone.
bool ended_thread(const Scope& scope, const ExceptionKey& key) {
  return key.end == ExceptionEnd::kLeft && scope.method_name(key.caught.method) == "java.lang.Thread.run";
}

// Where the JDK catches what a task throws: for whom it keeps it. Who asks throws it on, as a cause (FutureTask.report,
// CompletableFuture.reportJoin); the functions of exceptionally() and handle() get it as an argument. "" elsewhere.
std::string_view kept_for(const Scope& scope, const ExceptionKey& key) {
  if (key.end != ExceptionEnd::kSwallowed && key.end != ExceptionEnd::kUsed) return "";
  const std::string method = scope.method_name(key.caught.method);
  if (method == "java.util.concurrent.FutureTask.run" || method == "java.util.concurrent.FutureTask.runAndReset" ||
      method == "java.util.concurrent.ForkJoinTask.doExec" ||
      method == "java.util.concurrent.ForkJoinTask$InterruptibleTask.exec")
    return "Future.get";
  return method.starts_with("java.util.concurrent.CompletableFuture") ? "the CompletableFuture" : "";
}

// What a sampled line looks like: "thrown in A.f:12, caught in B.g:40".
std::string way_text(const Scope& scope, const ExceptionKey& key) {
  std::string text = (key.thrown.line != 0 ? "thrown in " : "thrown in or below ") + site_text(scope, key.thrown);
  if (left_initializer(scope, key))
    return text + ", left the static initializer " + scope.method_name(key.caught.method) +
           (key.end == ExceptionEnd::kWrapped
                ? ": the JVM has thrown " + key.other + " with it"
                : ": the JVM throws ExceptionInInitializerError with it where the class was used (an Error as it is)");
  switch (key.end) {
    case ExceptionEnd::kLeft:
      if (ended_thread(scope, key))
        return text + ", nothing caught it: it left java.lang.Thread.run and ended its thread";
      return text + ", no call of the trace caught it: last in " + site_text(scope, key.caught);
    case ExceptionEnd::kUnknown: return text + ", last seen in " + site_text(scope, key.caught);
    default: text += ", caught in " + site_text(scope, key.caught);
  }
  if (const std::string_view kept = kept_for(scope, key); kept == "Future.get")
    text += ", which keeps it for Future.get: nobody has asked for it";
  else if (!kept.empty())
    text +=
        ", which keeps it for the CompletableFuture: no join or get has thrown it (exceptionally, handle may have had "
        "it)";
  if (key.end == ExceptionEnd::kWrapped) text += ", thrown on as the cause of " + key.other;
  if (key.end == ExceptionEnd::kSuppressed) text += ", suppressed by " + key.other;
  return text;
}

std::vector<std::pair<std::string, std::uint64_t>> messages_of(const ExceptionCount& count) {
  std::vector<std::pair<std::string, std::uint64_t>> messages(count.messages.begin(), count.messages.end());
  std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return messages;
}

std::vector<std::pair<ExceptionWay, std::uint64_t>> ways_of(const ExceptionCount& count) {
  std::vector<std::pair<ExceptionWay, std::uint64_t>> ways(count.ways.begin(), count.ways.end());
  std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return ways;
}

std::string methods_text(const Scope& scope, const std::vector<std::uint64_t>& methods, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(methods.size(), most); ++i)
    text += (i == 0 ? "" : " < ") + scope.method_name(methods[i]);
  return methods.size() > most ? text + " < ..." : text;
}

// "through A.f < B.g, handler called by C.h": the most frequent way; "": nothing was between them, and no callers are
// known.
std::string who_text(const Scope& scope, const ExceptionCount& count) {
  const auto ways = ways_of(count);
  if (ways.empty()) return {};
  const auto& [way, times] = ways.front();
  std::string text;
  if (!way.passed.empty()) text = "through " + methods_text(scope, way.passed, Exceptions::kMaxPassed);
  if (way.is_cut) text += " < ...";
  if (!way.callers.empty())
    text += (text.empty() ? "" : "; ") + ("handler called by " + methods_text(scope, way.callers, kShownCallers));
  if (!text.empty() && times < count.count)
    text += " (" + std::to_string(times) + " of " + std::to_string(count.count) + ")";
  return text;
}

// "in 3 threads: mail-1 .. mail-3"; "": of threads that the trace does not name.
std::string threads_text(const Scope& scope, const ExceptionCount& count) {
  std::vector<std::string> names;
  for (const auto& [thread, times] : count.threads)
    if (thread != 0) names.push_back(scope.thread_name(thread));
  if (names.empty()) return {};
  const std::string number = names.size() == 1 ? "in the thread " : "in " + counted(names.size(), "thread") + ": ";
  return number + thread_names_text(names, kShownGroups) + (count.other_threads != 0 ? ", and in others" : "");
}

void append_row(std::string& out, const Scope& scope, const ExceptionKey& key, const ExceptionCount& count,
                std::size_t most_messages) {
  const std::string margin = "\n                          ";
  out += "  " + right_aligned(std::to_string(count.count), 10) + "  " + std::string(name_of(key.end));
  out.append(12 - name_of(key.end).size(), ' ');
  out += printable(key.type) + margin + printable(way_text(scope, key));
  for (const std::string& line : {who_text(scope, count), threads_text(scope, count)})
    if (!line.empty()) out += margin + printable(line);
  if (count.thrown_on != 0)
    out += margin + "before that caught and thrown on " + std::to_string(count.thrown_on) +
           (count.thrown_on == 1 ? " time" : " times");
  if (count.maybe_anew != 0)
    out += margin + std::to_string(count.maybe_anew) +
           " of these may be new exceptions, if the program keeps one object and throws it again and again";
  std::size_t shown = 0, rest = count.other_messages, with = rest;
  for (const auto& [message, times] : messages_of(count)) {
    with += times;
    if (++shown > most_messages) rest += times;
    else out += margin + std::to_string(times) + " x " + printable(message);
  }
  if (rest != 0) out += margin + std::to_string(rest) + " with other messages";
  if (with != 0 && with < count.count)
    out += margin + std::to_string(count.count - with) + " without a message, or with one that the trace does not have";
  out += '\n';
}

// "Cannot invoke ... because ... is null" (JEP 358) is computed by getMessage(), and stored nowhere.
bool lacks_computed_message(const ExceptionKey& key, const ExceptionCount& count) {
  return key.type == "java.lang.NullPointerException" && count.messages.empty();
}

// " in 20.0 s (9.0 a second)"; "" where the trace has no times.
std::string rate_text(const ScopeStatistics& statistics) {
  const std::uint64_t from = statistics.begun != 0 ? statistics.begun : statistics.first;
  if (from == 0 || statistics.last <= from) return {};
  const double seconds = static_cast<double>(statistics.last - from) / 1e9;
  const double rate = static_cast<double>(statistics.exceptions.thrown()) / seconds;
  char text[96];
  std::snprintf(text, sizeof text, rate < 10 ? " in %.1f s (%.2g a second)" : " in %.1f s (%.0f a second)", seconds,
                rate);
  return text;
}

std::string headline(const ScopeStatistics& statistics) {
  const Exceptions& exceptions = statistics.exceptions;
  std::string text = std::to_string(exceptions.thrown());
  text += exceptions.thrown() == 1 ? " exception" : " exceptions";
  text += rate_text(statistics);
  const std::uint64_t swallowed = exceptions.ended(ExceptionEnd::kSwallowed);
  text += swallowed == 0 ? "\n  none swallowed by a method of the trace"
                         : "\n  " + std::to_string(swallowed) + " swallowed";
  text += swallowed != 0 && exceptions.handlers_not_known() == swallowed ? " (caught, and not thrown on)"
                                                                         : " (caught and dropped)";
  if (const std::uint64_t used = exceptions.ended(ExceptionEnd::kUsed); used != 0)
    text += ", " + std::to_string(used) + " caught and used (logged, stored, asked)";
  if (const std::uint64_t wrapped = exceptions.ended(ExceptionEnd::kWrapped); wrapped != 0)
    text += ", " + std::to_string(wrapped) + " wrapped in another";
  if (const std::uint64_t suppressed = exceptions.ended(ExceptionEnd::kSuppressed); suppressed != 0)
    text += ", " + std::to_string(suppressed) + " suppressed by another";
  if (const std::uint64_t unknown = exceptions.ended(ExceptionEnd::kUnknown); unknown != 0)
    text += "\n  of " + std::to_string(unknown) + " the end is not known, since events of their threads were lost";
  if (const std::uint64_t left = exceptions.ended(ExceptionEnd::kLeft); left != 0)
    text += "\n  " + std::to_string(left) +
            " left: it ended its thread or a static initializer where that is said; otherwise caught by a method "
            "without callouts, by a call that began before the trace, or not at all";
  return text;
}

void write_site(JsonWriter& json, std::string_view name, const Scope& scope, const ExceptionSite& site) {
  json.key(name).begin_object().member("method", scope.method_name(site.method));
  if (site.line != 0) json.member("line", site.line);
  json.end_object();
}

void write_methods(JsonWriter& json, std::string_view name, const Scope& scope,
                   const std::vector<std::uint64_t>& methods) {
  json.key(name).begin_array();
  for (const std::uint64_t method : methods) json.value(scope.method_name(method));
  json.end_array();
}

void write_who(JsonWriter& json, const Scope& scope, const ExceptionCount& count) {
  json.key("ways").begin_array();
  for (const auto& [way, times] : ways_of(count)) {
    write_methods(json.begin_object().member("count", times), "passed", scope, way.passed);
    if (way.is_cut) json.member("passedMore", true);
    write_methods(json, "callers", scope, way.callers);
    json.end_object();
  }
  json.end_array().member("otherWays", count.other_ways).key("threads").begin_array();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> threads(count.threads.begin(), count.threads.end());
  std::stable_sort(threads.begin(), threads.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < std::min(threads.size(), kListedThreads); ++i) {
    const auto& [thread, times] = threads[i];
    json.begin_object().member("threadId", thread).member("name", scope.thread_name(thread));
    json.member("count", times).end_object();
  }
  json.end_array();
  write_left_out(json, "threads", rows_left_out(threads.size(), kListedThreads));
  json.member("otherThreads", count.other_threads);
}

void write_row(JsonWriter& json, const Scope& scope, const ExceptionKey& key, const ExceptionCount& count) {
  json.begin_object().member("class", key.type).member("count", count.count).member("end", name_of(key.end));
  json.member("swallowed", key.end == ExceptionEnd::kSwallowed);
  write_site(json, "thrown", scope, key.thrown);
  json.member("thrownThere", key.thrown.line != 0);
  write_site(json, has_handler(scope, key) ? "caught" : "lastIn", scope, key.caught);
  if (ended_thread(scope, key)) json.member("endedThread", true);
  if (left_initializer(scope, key)) json.member("leftInitializer", true);
  if (const std::string_view kept = kept_for(scope, key); !kept.empty()) json.member("keptFor", kept);
  if (!key.other.empty()) json.member(key.end == ExceptionEnd::kWrapped ? "causeOf" : "suppressedBy", key.other);
  json.member("thrownOn", count.thrown_on)
      .member("maybeThrownAnew", count.maybe_anew)
      .member("first", static_cast<double>(count.first) / 1e9);
  json.member("last", static_cast<double>(count.last) / 1e9);
  write_who(json, scope, count);
  json.key("messages").begin_array();
  for (const auto& [message, times] : messages_of(count))
    json.begin_object().member("message", message).member("count", times).end_object();
  json.end_array().member("otherMessages", count.other_messages).end_object();
}

}  // namespace

std::string exceptions_of(const ScopeStatistics& statistics, std::size_t rows) {
  const Exceptions& exceptions = statistics.exceptions;
  if (exceptions.thrown() == 0) return {};
  std::string out = "  " + headline(statistics) + "\n  " + right_aligned("TIMES", 10) + "  END         CLASS\n";
  const auto all = exceptions.most_first();
  bool lacks_message = false;
  for (std::size_t i = 0; i < std::min(rows, all.size()); ++i) {
    append_row(out, *statistics.scope, *all[i].first, *all[i].second,
               rows == std::numeric_limits<std::size_t>::max() ? rows : kShownMessages);
    lacks_message = lacks_message || lacks_computed_message(*all[i].first, *all[i].second);
  }
  out += more_rows(rows_left_out(all.size(), rows));
  if (const std::uint64_t unknown = exceptions.handlers_not_known(); unknown != 0)
    out += "  of " + std::to_string(unknown) + " of the swallowed the trace does not say whether the handler used " +
           (unknown == 1 ? "it" : "them") +
           (statistics.scope->is_strict ? ", with --strict-dtd"
                                        : " (an older jtrace made it, or the method has too many handlers)") +
           "\n";
  if (statistics.scope->is_strict && exceptions.ended(ExceptionEnd::kSwallowed) != 0)
    out += "  swallowed or wrapped: with --strict-dtd an exception has no cause\n";
  if (lacks_message && statistics.scope->has_messages)
    out +=
        "  the message of a JVM's NullPointerException is made when the program asks for it (JDK 14 and later; before, "
        "there is none): it is stored nowhere, so no trace has it\n";
  return out;
}

void write_exceptions(JsonWriter& json, const ScopeStatistics& statistics, std::size_t rows) {
  const Exceptions& exceptions = statistics.exceptions;
  json.member("exceptionsAll", exceptions.thrown());
  json.member("exceptionsSwallowed", exceptions.ended(ExceptionEnd::kSwallowed));
  json.member("exceptionsUsed", exceptions.ended(ExceptionEnd::kUsed));
  json.member("exceptionHandlersNotKnown", exceptions.handlers_not_known());
  json.key("exceptions").begin_array();
  const auto all = exceptions.most_first();
  for (std::size_t i = 0; i < std::min(rows, all.size()); ++i)
    write_row(json, *statistics.scope, *all[i].first, *all[i].second);
  json.end_array();
  write_left_out(json, "exceptions", rows_left_out(all.size(), rows));
}

namespace {

// "" if no method got callouts while the JVM ran.
std::string not_listed(const Statistics& statistics) {
  const auto& scopes = statistics.by_scope();
  const bool late = std::any_of(scopes.begin(), scopes.end(), [](const ScopeStatistics& each) {
    return each.scope != nullptr && each.scope->methods_with_callouts.value_or(0) != 0;
  });
  return late ? "what a method without callouts (of the JDK) threw into a call that began before the trace and caught "
                "it, as the loop of a service does"
              : "";
}

}  // namespace

std::string exceptions_text(const Statistics& statistics, std::size_t rows) {
  const std::string unseen = not_listed(statistics);
  const std::string last =
      unseen.empty() ? "" : "not among them: " + unseen + "; a JVM that is started with -agentpath shows it\n";
  std::string out;
  for (const std::string& process : statistics.process_ids())
    if (const ScopeStatistics* chosen = statistics.chosen(process, Family::kExceptions))
      out += exceptions_of(*chosen, rows) + lost_events(*chosen);
  if (!out.empty()) return out + last;
  out = "no exceptions in the trace" + recorded_without(statistics, Family::kExceptions) + "\n";
  for (const ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr) out += lost_events(each);
  return out + last;
}

std::string exceptions_json(const Statistics& statistics, std::string_view input, std::size_t rows) {
  std::string out;
  JsonWriter json(out);
  begin_trace_view(json, "exceptions", statistics, input);
  if (const std::string unseen = not_listed(statistics); !unseen.empty()) json.member("notListed", unseen);
  json.key("data").begin_array();
  for (const std::string& process : statistics.process_ids()) {
    const ScopeStatistics* chosen = statistics.chosen(process, Family::kExceptions);
    if (chosen == nullptr) continue;
    json.begin_object().member("processId", process);
    write_exceptions(json, *chosen, rows);
    json.end_object();
  }
  json.end_array().end_object();
  return out + '\n';
}

}  // namespace jtrace::trace::io
