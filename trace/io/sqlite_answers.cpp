#include "trace/io/sqlite_answers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/strings.h"
#include "trace/io/call_percentile.h"
#include "trace/record/control.h"

namespace jtrace::trace::io {
namespace {

constexpr std::string_view kHistogram = "histogram ";  // serializationFormat of a class of a heap

std::uint64_t row_of(const Scope& scope) { return scope.index + 1; }

}  // namespace

SqliteAnswers::SqliteAnswers(sqlite3* db)
    : call_(db, "INSERT INTO call VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      wait_(db, "INSERT INTO wait VALUES(?,?,?,?,?,?,?,?,?)"),
      gc_(db, "INSERT INTO gc VALUES(?,?,?,?,?,?,?,?)"),
      exception_(db, "INSERT INTO exception VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"),
      method_(db, "INSERT INTO method_time VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"),
      sample_(db, "INSERT INTO sample VALUES(?,?,?,?)"),
      collection_(db, "INSERT INTO collection VALUES(?,?,?,?,?,?,?,?,?)"),
      recorded_(db, "INSERT INTO recorded VALUES(?,?,?,?,?)"),
      heap_(db, "INSERT INTO heap_class VALUES(?,?,?,?)"),
      loss_(db, "INSERT INTO loss VALUES(?,?,?,?,?)"),
      note_(db, "INSERT INTO note VALUES(?,?)") {}

bool SqliteAnswers::add(const Event& event, std::uint64_t seq) {
  seq_ = seq;
  scope_ = nullptr;
  return write(event) && is_written_;
}

void SqliteAnswers::on_event(const Event& event, ScopeStatistics& statistics) {
  scope_ = statistics.scope;
  if (!statistics.exceptions.has_listener())
    statistics.exceptions.listen(
        [this, scope = statistics.scope](const EndedException& ended) { add_exception(*scope, ended); });
  if (const auto* value = std::get_if<Value>(&event)) return add_sample(statistics, *value);
  const auto* finish = std::get_if<GcFinish>(&event);
  if (finish == nullptr || !finish->time.present() || statistics.pauses.empty()) return;
  const GcPause& pause = statistics.pauses.back();
  done(gc_.number(row_of(*scope_))
           .number(pause.start)
           .number(pause.start + pause.duration)
           .value(finish->usedObjectSpace)
           .value(finish->totalObjectSpace)
           .value(finish->usedObjectSpaceBefore)
           .value(finish->kind)
           .value(finish->cause)
           .run());
}

void SqliteAnswers::add_sample(const ScopeStatistics& statistics, const Value& value) {
  if (!statistics.scope->snapshot || value.serializationFormat.view().starts_with(kHistogram)) return;
  const std::string_view text = value.value.view();
  Insert& row = sample_.number(row_of(*statistics.scope)).known(statistics.trace_time).text(value.name.view());
  const auto number = parse_decimal<std::int64_t>(text);
  done((number ? row.integer(*number) : row.text(text)).run());
}

void SqliteAnswers::on_state(const ScopeStatistics& statistics, std::uint64_t thread, ThreadState state,
                             std::uint64_t since, std::uint64_t until) {
  const Scope& scope = *statistics.scope;
  auto& ends = waited_[{scope.index, thread}].ends;
  ends.push_back({since, until, (ends.empty() ? 0 : ends.back().sum) + until - since});
  const ThreadStatistics& of = statistics.threads.at(thread);
  add_wait(scope, thread, {wait_kind(state), since, until, of.monitor, of.owner}, ends_are_known());
}

void SqliteAnswers::on_first_wait(const ScopeStatistics& statistics, std::uint64_t thread, ThreadState state,
                                  std::uint64_t since, std::uint64_t until, std::uint64_t monitor) {
  add_wait(*statistics.scope, thread, {wait_kind(state), since, until, monitor, 0}, false);
}

void SqliteAnswers::add_wait(const Scope& scope, std::uint64_t thread, const Wait& wait, bool is_complete) {
  const std::string type = wait.monitor != 0 ? type_of_object(scope, wait.monitor) : std::string();
  done(wait_.number(row_of(scope))
           .number(thread)
           .text(wait_name(wait.kind))
           .known(wait.monitor)
           .known(wait.owner)
           .number(wait.since)
           .number(wait.until)
           .known(type == "?" ? std::string_view() : type)
           .number(is_complete)
           .run());
}

std::uint64_t SqliteAnswers::Waited::until(std::uint64_t time) const {
  const auto next =
      std::upper_bound(ends.begin(), ends.end(), time, [](std::uint64_t at, const End& end) { return at < end.until; });
  const std::uint64_t sum = next == ends.begin() ? 0 : std::prev(next)->sum;
  return next == ends.end() || next->since >= time ? sum : sum + time - next->since;
}

void SqliteAnswers::on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) {
  Statistics::on_enter(scope, thread, stack);
  stack.back().id = seq_;
}

void SqliteAnswers::on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                             std::uint64_t cpu_time) {
  const OpenFrame& frame = stack.back();
  const std::uint64_t whole = time - frame.time;
  const auto waited = waited_.find({scope.index, thread});
  // With --slower-than the entry of a call comes after the waits in it.
  std::uint64_t in_waits = waited == waited_.end() ? 0 : waited->second.until(time) - waited->second.until(frame.time);
  if (const auto open = frame.unfinished ? open_wait(of(scope), thread, time) : std::nullopt)
    in_waits += open->between(frame.time, time);
  call_.number(frame.id).number(row_of(scope)).number(thread).known(frame.method);
  call_.known(stack.size() > 1 ? stack[stack.size() - 2].id : 0).number(frame.time).number(time);
  call_.number(self_time(of(scope), thread, frame, time));
  (cpu_time != 0 && cpu_time >= frame.cpu_time ? call_.number(cpu_time - frame.cpu_time) : call_.null());
  constexpr std::uint64_t kWaits =
      record::kMonContendedEnteredEvent | record::kMonWaitedEvent | record::kParkEvent | record::kSleepEvent;
  const bool has_waits = !scope.has_events_option || (scope.asked_events & kWaits) != 0;
  (has_waits ? call_.number(std::min(whole, in_waits)) : call_.null())
      .number(stack.size())
      .number(frame.unfinished ? 0 : 1);
  (frame.arguments ? call_.text(*frame.arguments) : call_.null());
  const std::string exception = frame.threw ? type_of_object(scope, frame.exception) : std::string();
  done((frame.threw ? call_.text(exception) : call_.null()).run());
  Statistics::on_leave(scope, thread, stack, time, cpu_time);
}

void SqliteAnswers::on_gap(Scope& scope, const Gap& gap) {
  done(loss_.number(row_of(scope)).known(gap.thread).known(gap.from).known(gap.to).known(gap.lost).run());
  Statistics::on_gap(scope, gap);
}

void SqliteAnswers::add_exception(const Scope& scope, const EndedException& ended) {
  const ExceptionKey& key = *ended.key;
  exception_.number(row_of(scope)).known(ended.thread).text(key.type).known(ended.time);
  exception_.known(key.thrown.method).known(key.thrown.line).known(key.caught.method).known(key.caught.line);
  exception_.text(name_of(key.end)).known(std::string_view(key.other)).number(ended.thrown_on);
  done(exception_.known(std::string_view(*ended.message)).run());
}

void SqliteAnswers::add_methods(const ScopeStatistics& statistics) {
  const auto& times = statistics.slow.methods();
  const bool has_calls = recorded_of(statistics).calls;
  for (const auto& [id, method] : statistics.methods) {
    method_.number(row_of(*statistics.scope)).number(id);
    if (has_calls) method_.number(method.calls).number(method.total).number(method.self);
    else method_.null().null().null();
    method_.known(method.cpu);
    const auto found = times.find(id);
    const bool has_times = found != times.end();
    std::string bounds[2];  // of what is not known: "<10"
    for (const std::size_t i : {0u, 1u}) {
      const CallPercentile percentile = call_percentile(statistics, id, i == 0 ? 0.5 : 0.99);
      const bool is_known = percentile.kind == CallPercentile::Kind::kIs;
      if (!is_known) bounds[i] = percentile_text(percentile);
      (is_known && has_times ? method_.number(percentile.ns) : method_.null());
    }
    (has_times ? method_.number(found->second.longest()) : method_.null());
    (method.has_count ? method_.number(method.counted) : method_.null());
    done(method_.known(std::string_view(bounds[0])).known(std::string_view(bounds[1])).run());
  }
}

void SqliteAnswers::add_collections(const ScopeStatistics& statistics) {
  const auto optional = [](Insert& row, const std::optional<std::uint64_t>& value) -> Insert& {
    return value ? row.number(*value) : row.null();
  };
  for (const Collection& each : statistics.collections) {
    collection_.number(row_of(*statistics.scope)).known(each.from).number(each.to).number(each.pauses);
    optional(optional(optional(collection_, each.before), each.after), each.total);
    done(collection_.known(std::string_view(each.kind)).known(std::string_view(each.cause)).run());
  }
}

void SqliteAnswers::add_recorded(const ScopeStatistics& statistics) {
  const Recorded recorded = recorded_of(statistics);
  recorded_.number(row_of(*statistics.scope)).number(recorded.blocked).number(recorded.waiting);
  done(recorded_.number(recorded.sleeping).number(recorded.allocations).run());
}

void SqliteAnswers::add_notes(const ScopeStatistics& statistics) {
  const Scope& scope = *statistics.scope;
  const auto add = [&](const std::string& text) { done(note_.number(row_of(scope)).text(text).run()); };
  if (scope.losses.events != 0)
    add(std::to_string(scope.losses.events) +
        " events were lost (view losses): sums are too low, and what has complete = 0 took longer");
  if (scope.losses.lacks_end) add(std::string(kLacksEnd));
  if (const std::string note = scope.late_heap_note(); !note.empty() && !statistics.pauses.empty()) add(note);
  if (const std::string note = scope.pauses_note(); !note.empty()) add(note);
  if (const std::string note = statistics.allocation_note(); !note.empty()) add("allocations are " + note);
  if (const std::string note = statistics.cut_stacks_note(); !note.empty()) add(note);
  if (const std::string note = statistics.filters_note(); !note.empty()) add("allocations: " + note);
  if (scope.could_have_owners() && statistics.count(ElementKind::kMonContendedEnter) != 0)
    add("waits without an owner: " + std::string(kOwnersNote));
  if (const std::string note = scope.short_contentions_note(); !note.empty()) add(note);
  if (!statistics.slow.methods().empty())
    add("median_ms and p99_ms of the view methods are about: at most an eighth too high");
  if (!scope.slower_than.empty())
    add("only calls of " + scope.slower_than + " s and longer were recorded" + scope.longest_note() +
        ": median_ms and p99_ms of the view methods are of all calls where counted has their number (NULL and, in "
        "median_bound and p99_bound, what is known: among those that were only counted), else of the recorded ones");
}

bool SqliteAnswers::add_note(const std::string& text) {
  done(note_.null().text(text).run());
  return is_written_;
}

// Of a merged trace: agents that watched a process at the same time.
void SqliteAnswers::add_note_of_agents() {
  std::map<std::string, std::vector<const ScopeStatistics*>> by_process;
  for (const ScopeStatistics& each : by_scope())
    if (each.scope != nullptr && !each.pauses.empty()) by_process[each.scope->process_id].push_back(&each);
  const auto overlap = [](const ScopeStatistics* a, const ScopeStatistics* b) {
    return a->pauses.front().start <= b->pauses.back().start && b->pauses.front().start <= a->pauses.back().start;
  };
  for (const auto& each : by_process) {
    const std::vector<const ScopeStatistics*>& agents = each.second;
    const bool is_twice = std::any_of(agents.begin(), agents.end(), [&](const ScopeStatistics* a) {
      return std::any_of(agents.begin(), agents.end(), [&](const auto* b) { return a != b && overlap(a, b); });
    });
    if (is_twice && !each.first.empty())
      add_note("the pauses of process " + each.first + " were recorded by " + counted(agents.size(), "agent") +
               ": the view has a pause once for each agent that saw it (column agent)");
  }
}

bool SqliteAnswers::complete() {
  if (!finish()) return false;
  add_note_of_agents();
  for (const ScopeStatistics& each : by_scope()) {
    if (each.scope == nullptr) continue;
    add_methods(each);
    add_collections(each);
    add_recorded(each);
    add_notes(each);
    for (const auto& [name, amount] : each.heap)
      done(heap_.number(row_of(*each.scope)).text(name).number(amount.count).number(amount.bytes).run());
  }
  return is_written_;
}

}  // namespace jtrace::trace::io
