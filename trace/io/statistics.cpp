#include "trace/io/statistics.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/strings.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kMaxPauses = 1'000'000;

std::uint64_t sum(const std::array<std::uint64_t, kElementCount>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// JVMs have few causes; a document may have any.
std::uint32_t place_of(std::vector<std::string>& texts, std::string_view text) {
  constexpr std::size_t kMost = 1000;
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found != texts.end()) return static_cast<std::uint32_t>(found - texts.begin());
  if (texts.size() >= kMost) text = "other causes";
  if (text == texts.back()) return static_cast<std::uint32_t>(texts.size() - 1);
  texts.emplace_back(text);
  return static_cast<std::uint32_t>(texts.size() - 1);
}

}  // namespace

void Waits::add(std::uint64_t ns) {
  ++count;
  total += ns;
  longest = std::max(longest, ns);
}

std::string_view state_name(ThreadState state) {
  constexpr std::array<std::string_view, 4> kNames = {"running", "blocked", "waiting", "sleeping"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string ScopeStatistics::surplus_note() const {
  const bool is_mixed = large_samples != 0 && large_samples < count(ElementKind::kObjAlloc);
  return is_mixed && allocation_kind == AllocationKind::kSampled ? io::surplus_note(*scope) : std::string();
}

std::string ScopeStatistics::allocation_note() const {
  if (allocation_kind == AllocationKind::kNone) return {};
  const std::string surplus = surplus_note();
  return io::allocation_note(*scope, count(ElementKind::kObjAlloc)) + (surplus.empty() ? "" : "; " + surplus);
}

std::string ScopeStatistics::cut_stacks_note() const {
  if (full_stacks == 0) return {};
  return std::to_string(full_stacks) + " of " + std::to_string(count(ElementKind::kObjAlloc)) + " stacks have " +
         std::to_string(scope->stack_depth) +
         " frames, the most that were recorded (--stack-depth): who called those may be missing";
}

std::string ScopeStatistics::filters_note() const {
  return filters_objects(*scope) ? "only objects of the classes that the trace's filters include" : "";
}

std::string lost_events(const ScopeStatistics& statistics) {
  const Losses& losses = statistics.scope->losses;
  std::string text;
  if (losses.events != 0)
    text += counted(losses.events, "event") + " " + was_were(losses.events) + " lost while tracing: there were more\n";
  if (losses.lacks_end) text += std::string(kLacksEnd) + "\n";
  if (const std::string note = statistics.scope->pauses_note(); !note.empty()) text += note + "\n";
  return text;
}

std::uint64_t ScopeStatistics::events() const { return sum(counts); }

ScopeStatistics& Statistics::of(Scope& scope) {
  if (by_scope_.size() <= scope.index) by_scope_.resize(scope.index + 1);
  by_scope_[scope.index].scope = &scope;
  return by_scope_[scope.index];
}

std::uint64_t Statistics::total(ElementKind kind) const {
  std::uint64_t count = outside_[static_cast<std::size_t>(kind)];
  for (const ScopeStatistics& statistics : by_scope_) count += statistics.count(kind);
  return count;
}
std::uint64_t Statistics::events() const {
  std::uint64_t count = sum(outside_);
  for (const ScopeStatistics& statistics : by_scope_) count += statistics.events();
  return count;
}

Losses Statistics::losses() const {
  Losses all;
  for (const ScopeStatistics& each : by_scope_)
    if (each.scope != nullptr) all += each.scope->losses;
  return all;
}

Result<> Statistics::write(const Event& event) {
  const ElementKind kind = element_kind(event);
  Scope& scope = scopes_.note(event);
  if (kind == ElementKind::kNode || kind == ElementKind::kProcessCreate) {
    ++outside_[event.index()];
    return {};
  }
  ScopeStatistics& statistics = of(scope);
  ++statistics.counts[event.index()];
  note_times(statistics, event);
  event_ = &event;
  first_states_.note(event, scope);
  event_ = nullptr;
  entry_ = std::get_if<MethodEntry>(&event);
  calls_.note(event, scope);
  if (!scope.snapshot) {
    const auto* caught = std::get_if<Catch>(&event);
    const bool has_thread = caught != nullptr && caught->threadIdRef.present();
    statistics.exceptions.note(event, scope, has_thread ? calls_.find(scope, caught->threadIdRef.value()) : nullptr);
  }
  if (scope.snapshot) note_snapshot(statistics, event);
  else note_states(statistics, event);
  switch (kind) {
    case ElementKind::kTraceStart:
      statistics.trace_time = std::get<TraceStart>(event).time.value_or(0);
      statistics.stacks.clear();
      break;
    case ElementKind::kProcessSuspend: statistics.still_since = std::get<ProcessSuspend>(event).time.value_or(0); break;
    case ElementKind::kProcessResume:
      if (const Time time = std::get<ProcessResume>(event).time; time.present() && statistics.still_since != 0)
        statistics.slow.note_standstill(std::exchange(statistics.still_since, 0), time.ns());
      break;
    case ElementKind::kGcStart: statistics.last_gc_start = std::get<GcStart>(event).time.value_or(0); break;
    case ElementKind::kOption:
      note_missed_pauses(statistics, std::get<Option>(event));
      note_collection(statistics, std::get<Option>(event));
      break;
    case ElementKind::kGcFinish: note_gc(statistics, std::get<GcFinish>(event)); break;
    case ElementKind::kObjAlloc: note_allocation(statistics, std::get<ObjAlloc>(event)); break;
    case ElementKind::kMethodCount: {
      const auto& count = std::get<MethodCount>(event);
      if (!count.methodIdRef.present()) break;
      MethodStatistics& method = statistics.methods[count.methodIdRef.value()];
      method.counted = count.count.value_or(0);
      method.has_count = true;
      break;
    }
    default: break;
  }
  on_event(event, statistics);
  return {};
}

void Statistics::note_states(ScopeStatistics& statistics, const Event& event) {
  if (const auto* enter = std::get_if<MonContendedEnter>(&event)) {
    enter_state(statistics, enter->threadIdRef, ThreadState::kBlocked, enter->time, enter->objIdRef,
                enter->threadOwner);
  } else if (const auto* entered = std::get_if<MonContendedEntered>(&event)) {
    leave_state(statistics, entered->threadIdRef, entered->time);
  } else if (const auto* wait = std::get_if<MonWait>(&event)) {
    const bool sleeps = wait->objIdRef == ObjectId::sleep();
    enter_state(statistics, wait->threadIdRef, sleeps ? ThreadState::kSleeping : ThreadState::kWaiting, wait->time,
                sleeps ? ObjectId(0) : wait->objIdRef, wait->threadOwner);
  } else if (const auto* waited = std::get_if<MonWaited>(&event)) {
    leave_state(statistics, waited->threadIdRef, waited->time);
  } else if (const auto* end = std::get_if<ThreadEnd>(&event)) {
    leave_state(statistics, end->threadIdRef, end->time);
  } else if (const auto* option = std::get_if<Option>(&event)) {
    // Ends in a part that is missing are not recorded. Those in a pause of the trace are.
    if (option->key.view() != kContinuesKey) return;
    leave_states(statistics, statistics.last);
    // In its head: otherwise the part is there that it continues, or one before that.
    if (statistics.last <= statistics.begun) statistics.begins_later = true;
  }
}

// Only waits whose end makes an event: the thread was in them until then. After a sleep or a park that began before the
// trace, a thread may have run for long before its first event.
void Statistics::note_first_state(const Scope& scope, std::uint64_t thread, const FirstState& first) {
  ScopeStatistics& statistics = by_scope_[scope.index];
  // The documents of one trace repeat it.
  ThreadStatistics& each = statistics.threads[thread];
  each.ran_before = true;
  const std::uint64_t since = std::max(first.since, each.first_until);
  const std::uint64_t ns = first.until > since ? first.until - since : 0;
  std::uint64_t monitor = 0;
  const auto note_monitor = [&](ObjectId object) {
    if (object.present() && object.is_number()) monitor = object.value();
  };
  ThreadState state = ThreadState::kWaiting;
  if (first.state == "blocked" && scope.has_blocking_ends) {
    state = ThreadState::kBlocked;
    if (const auto* entered = event_ == nullptr ? nullptr : std::get_if<MonContendedEntered>(event_))
      note_monitor(entered->objIdRef);
    each.blocked.add(ns);
    statistics.contention[type_of_object(scope, monitor)].add(ns);
    statistics.waited_for[{thread, 0}].add(ns);
  } else if (first.state == "waiting" && scope.has_wait_ends) {
    if (const auto* waited = event_ == nullptr ? nullptr : std::get_if<MonWaited>(event_))
      note_monitor(waited->objIdRef);
    each.waiting.add(ns);
  } else {
    return;
  }
  each.first_until = first.until;
  on_first_wait(statistics, thread, state, since, since + ns, monitor);
}

// A single moment: nothing has a duration.
void Statistics::note_snapshot(ScopeStatistics& statistics, const Event& event) {
  constexpr std::size_t kMaxFrames = 1024;
  const auto thread_of = [&](ThreadId id) -> SnapshotThread& {
    return statistics.stacks[id.present() ? id.value() : 0];
  };
  if (const auto* start = std::get_if<ThreadStart>(&event)) {
    thread_of(start->threadId);
  } else if (const auto* entry = std::get_if<MethodEntry>(&event)) {
    SnapshotThread& thread = thread_of(entry->threadIdRef);
    if (thread.frames.size() >= kMaxFrames) ++thread.deeper;
    else thread.frames.push_back(entry->methodIdRef.present() ? entry->methodIdRef.value() : 0);
  } else if (const auto* wait = std::get_if<MonWait>(&event)) {
    SnapshotThread& thread = thread_of(wait->threadIdRef);
    thread.state = wait->objIdRef == ObjectId::sleep() ? ThreadState::kSleeping : ThreadState::kWaiting;
    thread.monitor = wait->objIdRef.present() && wait->objIdRef.is_number() ? wait->objIdRef.value() : 0;
  } else if (const auto* enter = std::get_if<MonContendedEnter>(&event)) {
    SnapshotThread& thread = thread_of(enter->threadIdRef);
    thread.state = ThreadState::kBlocked;
    thread.monitor = enter->objIdRef.present() && enter->objIdRef.is_number() ? enter->objIdRef.value() : 0;
    thread.owner = enter->threadOwner.present() ? enter->threadOwner.value() : 0;
  } else if (const auto* value = std::get_if<Value>(&event)) {
    note_value(statistics, *value);
  } else if (const auto* option = std::get_if<Option>(&event)) {
    if (option->key.view() != kCutStackKey) return;
    if (const auto id = parse_decimal<std::uint64_t>(option->value.view())) thread_of(ThreadId(*id)).cut = true;
  }
}

// Counters and class totals (docs/trace_format.md, "Counters and class totals as value").
void Statistics::note_value(ScopeStatistics& statistics, const Value& value) {
  const std::string_view format = value.serializationFormat.view();
  const auto number = parse_decimal<std::int64_t>(value.value.view());
  constexpr std::string_view kHistogram = "histogram instances=";
  if (format.starts_with(kHistogram)) {
    const std::string_view rest = format.substr(kHistogram.size());
    Amount& amount = statistics.heap[java_class_name(value.name.view())];
    amount.count += parse_decimal<std::uint64_t>(rest.substr(0, rest.find(' '))).value_or(0);
    amount.bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(number.value_or(0), 0));
    return;
  }
  CounterSeries& series = statistics.counters[std::string(value.name.view())];
  if (number) series.add(statistics.trace_time, *number);
  else series.text = value.value.view();
}

void CounterSeries::add(std::uint64_t time, std::int64_t value) {
  constexpr std::size_t kMaxPoints = 1024;
  if (samples == 0) first = least = greatest = value;
  last = value;
  least = std::min(least, value);
  greatest = std::max(greatest, value);
  if (samples++ % stride_ != 0) return;
  points.emplace_back(time, value);
  if (points.size() < kMaxPoints) return;
  for (std::size_t i = 0; i < points.size() / 2; ++i) points[i] = points[2 * i];
  points.resize(points.size() / 2);
  stride_ *= 2;
}

std::vector<std::vector<std::uint64_t>> ScopeStatistics::deadlocks() const {
  std::vector<std::vector<std::uint64_t>> found;
  std::map<std::uint64_t, std::size_t> seen;  // thread -> number of the walk that reached it
  std::size_t walk = 0;
  for (const auto& [start, thread] : stacks) {
    ++walk;
    std::vector<std::uint64_t> path;
    for (std::uint64_t at = start;;) {
      const auto next = stacks.find(at);
      if (next == stacks.end() || next->second.owner == 0) break;
      const auto [visited, fresh] = seen.emplace(at, walk);
      if (!fresh) {
        if (visited->second == walk) found.emplace_back(std::find(path.begin(), path.end(), at), path.end());
        break;
      }
      path.push_back(at);
      at = next->second.owner;
    }
  }
  return found;
}

std::vector<std::string> Statistics::process_ids() const {
  std::vector<std::string> ids;
  for (const ScopeStatistics& each : by_scope_)
    if (each.scope != nullptr && std::find(ids.begin(), ids.end(), each.scope->process_id) == ids.end())
      ids.push_back(each.scope->process_id);
  return ids;
}

void Statistics::note_times(ScopeStatistics& statistics, const Event& event) {
  const Common common = common_of(event);
  if (common.time.present()) {
    const std::uint64_t ns = common.time.ns();
    if (element_kind(event) == ElementKind::kTraceStart) {
      if (statistics.begun == 0) statistics.first = ns;
      statistics.begun = statistics.begun == 0 ? ns : std::min(statistics.begun, ns);
    }
    const std::uint64_t from = std::max(ns, statistics.begun);
    statistics.first = statistics.first == 0 ? from : std::min(statistics.first, from);
    statistics.last = std::max(statistics.last, ns);
  }
  if (common.thread.present()) ++statistics.threads[common.thread.value()].events;
}

void Statistics::enter_state(ScopeStatistics& statistics, ThreadId thread, ThreadState state, Time time,
                             ObjectId monitor, ThreadId owner) {
  if (!thread.present() || !time.present()) return;
  ThreadStatistics& each = statistics.threads[thread.value()];
  each.state = state;
  each.since = time.ns();
  each.monitor = monitor.present() && monitor.is_number() ? monitor.value() : 0;
  each.owner = owner.present() ? owner.value() : 0;
}

void Statistics::leave_state(ScopeStatistics& statistics, ThreadId thread, Time time) {
  if (!thread.present() || !time.present()) return;
  ThreadStatistics& each = statistics.threads[thread.value()];
  if (each.state == ThreadState::kRunning) return;
  const std::uint64_t ns = time.ns() > each.since ? time.ns() - each.since : 0;
  on_state(statistics, thread.value(), each.state, each.since, each.since + ns);
  const std::string type =
      each.state == ThreadState::kSleeping ? std::string() : type_of_object(*statistics.scope, each.monitor);
  statistics.slow.note_wait(thread.value(), {.kind = wait_kind(each.state),
                                             .since = each.since,
                                             .until = each.since + ns,
                                             .monitor = each.monitor,
                                             .owner = each.owner,
                                             .is_nap = is_nap(each.state, each.owner, type)});
  if (each.state == ThreadState::kBlocked) {
    each.blocked.add(ns);
    statistics.contention[type].add(ns);
    statistics.waited_for[{thread.value(), each.owner}].add(ns);
  } else {
    (each.state == ThreadState::kSleeping ? each.sleeping : each.waiting).add(ns);
    if (each.owner != 0) {  // a park for a lock that had an owner
      statistics.contention[type].add(ns);
      statistics.waited_for[{thread.value(), each.owner}].add(ns);
    } else if (each.state == ThreadState::kWaiting) {
      const bool serves = statistics.scope->serves_virtual_threads(thread.value());
      (serves ? statistics.carrier_waits : statistics.waits[type]).add(ns);
    }
  }
  each.state = ThreadState::kRunning;
}

// In which the thread is, until `time`.
std::optional<Wait> Statistics::open_wait(const ScopeStatistics& statistics, std::uint64_t thread, std::uint64_t time) {
  const auto found = statistics.threads.find(thread);
  if (found == statistics.threads.end() || found->second.state == ThreadState::kRunning) return std::nullopt;
  const ThreadStatistics& each = found->second;
  const bool naps = is_nap(each.state, each.owner, type_of_object(*statistics.scope, each.monitor));
  return Wait{wait_kind(each.state), each.since, std::max(time, each.since), each.monitor, each.owner, naps};
}

void Statistics::note_missed_pauses(ScopeStatistics& statistics, const Option& option) {
  if (option.key.view() != kMissedPausesKey) return;
  statistics.gc_missed += parse_decimal<std::uint64_t>(option.value.view()).value_or(0);
}

void Statistics::note_collection(ScopeStatistics& statistics, const Option& option) {
  if (option.key.view() != kCollectionKey || statistics.collections.size() >= kMaxPauses) return;
  if (auto collection = read_collection(option.value.view())) statistics.collections.push_back(std::move(*collection));
}

void Statistics::note_gc(ScopeStatistics& statistics, const GcFinish& finish) {
  if (!finish.time.present()) return;
  const std::uint64_t start = statistics.last_gc_start;
  if (start == 0) ++statistics.gc_without_start;
  const std::uint64_t from = start != 0 && start <= finish.time.ns() ? start : finish.time.ns();
  statistics.gc.add(finish.time.ns() - from);
  statistics.last_gc_start = 0;
  statistics.gc_causes[{std::string(finish.cause.view()), std::string(finish.kind.view())}].add(finish.time.ns() -
                                                                                                from);
  if (statistics.pauses.size() >= kMaxPauses) return;
  const auto kept = [&](Text text) { return place_of(statistics.pause_texts, text.view()); };
  statistics.pauses.push_back({.start = from,
                               .duration = finish.time.ns() - from,
                               .used = finish.usedObjectSpace.value_or(0),
                               .total = finish.totalObjectSpace.value_or(0),
                               .before = finish.usedObjectSpaceBefore.value_or(0),
                               .cause = kept(finish.cause),
                               .kind = kept(finish.kind)});
}

// Sites are known by class and innermost frame; after so many sites, the rest is summed up.
void Statistics::note_allocation(ScopeStatistics& statistics, const ObjAlloc& alloc) {
  constexpr std::size_t kMaxSites = 100'000;
  const AllocationWeight weight = allocation_weight(*statistics.scope, alloc);
  statistics.allocation_kind = allocation_kind(*statistics.scope);
  const std::string name = allocated_type(*statistics.scope, alloc.isArray, alloc.classIdRef);
  statistics.allocations[name].add(weight);
  if (is_large_sample(*statistics.scope, alloc)) ++statistics.large_samples;
  statistics.places.add(name, alloc.contextData.view(), alloc.threadIdRef.present() ? alloc.threadIdRef.value() : 0,
                        weight);
  if (const std::string_view stack = alloc.contextData.view(); !stack.empty()) {
    const std::string site = frame_text(stack.substr(0, stack.find(';'))) + " " + name;
    const bool is_known = statistics.sites.size() < kMaxSites || statistics.sites.count(site) != 0;
    statistics.sites[is_known ? site : "other sites"].add(weight);
    const auto frames = static_cast<std::uint64_t>(std::count(stack.begin(), stack.end(), ';')) + 1;
    statistics.full_stacks += frames > 1 && frames == statistics.scope->stack_depth;  // of one frame it is a site
  }
  if (!alloc.threadIdRef.present()) return;
  ThreadStatistics& thread = statistics.threads[alloc.threadIdRef.value()];
  thread.allocations += weight.objects;
  thread.allocated_bytes += weight.bytes;
}

void Statistics::on_enter(Scope& scope, std::uint64_t /*thread*/, std::vector<OpenFrame>& stack) {
  OpenFrame& frame = stack.back();
  const auto method = scope.methods.find(frame.method);
  if (method != scope.methods.end()) frame.io = method->second.io;
  if (stack.size() > 1) {
    const OpenFrame& caller = stack[stack.size() - 2];
    frame.in_io = caller.in_io || caller.io != IoKind::kNone;
  }
  if (entry_ != nullptr && !entry_->values.empty())
    frame.arguments = std::make_shared<const std::string>(arguments_text(
        entry_->values, scope, method == scope.methods.end() ? std::string_view() : method->second.signature));
}

// The thread no longer waits for it.
void Statistics::on_gap(Scope& scope, const Gap& gap) {
  ScopeStatistics& statistics = of(scope);
  ++statistics.gaps;
  if (gap.from != 0 && gap.to > gap.from) statistics.gap_time += gap.to - gap.from;
  if (gap.from != 0 && gap.to == 0) statistics.endless.push_back(gap.from);
  statistics.exceptions.note_gap(gap.thread, gap.from);
  if (gap.thread == 0) return leave_states(statistics, gap.from != 0 ? gap.from : statistics.last);
  ends_are_known_ = false;
  if (gap.from != 0) leave_state(statistics, ThreadId(gap.thread), Time(gap.from));
  ends_are_known_ = true;
}

// Where no call that is traced waits for it, it waits for work: it is a nap.
void Statistics::note_io(ScopeStatistics& statistics, std::uint64_t thread, const std::vector<OpenFrame>& stack,
                         std::uint64_t time) {
  const OpenFrame& frame = stack.back();
  const WaitKind kind = frame.io == IoKind::kFile ? WaitKind::kFile : WaitKind::kSocket;
  const bool is_outermost = stack.size() == 1;
  statistics.slow.note_io(thread, {.kind = kind,
                                   .since = frame.time,
                                   .until = time,
                                   .is_nap = is_outermost,
                                   .method = is_outermost ? frame.method : stack[stack.size() - 2].method});
}

// Without its callees, and without the wait for a monitor in which the trace ends: that may be the wait of a
// synchronized callee, which has no entry before it is over.
std::uint64_t Statistics::self_time(const ScopeStatistics& statistics, std::uint64_t thread, const OpenFrame& frame,
                                    std::uint64_t time) {
  std::uint64_t others = frame.user;
  if (frame.unfinished && !frame.has_open_callee)
    if (const auto open = open_wait(statistics, thread, time); open && open->kind == WaitKind::kBlocked)
      others += open->between(frame.time, time);
  const std::uint64_t whole = time - frame.time;
  return whole - std::min(whole, others);
}

// OpenFrame::user: the time that the frame's callees took.
void Statistics::on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                          std::uint64_t cpu_time) {
  const OpenFrame& frame = stack.back();
  const std::uint64_t whole = time - frame.time;
  ScopeStatistics& statistics = of(scope);
  // It stands still until the trace ends.
  if (frame.unfinished && statistics.still_since != 0)
    statistics.slow.note_standstill(std::exchange(statistics.still_since, 0), time);
  if (frame.io != IoKind::kNone && !frame.in_io) note_io(statistics, thread, stack, time);
  const bool has_cpu = cpu_time != 0 && frame.cpu_time != 0 && cpu_time >= frame.cpu_time;
  statistics.slow.note_call(thread, stack, time, statistics.pauses,
                            frame.unfinished ? open_wait(statistics, thread, time) : std::nullopt,
                            has_cpu ? std::optional(cpu_time - frame.cpu_time) : std::nullopt,
                            frame.threw ? type_of_object(scope, frame.exception) : std::string());
  MethodStatistics& method = statistics.methods[frame.method];
  ++method.calls;
  if (scope.start.present() && frame.time >= scope.start.ns() + kSettling)
    method.settled_longest = std::max(method.settled_longest, whole);
  method.self += self_time(statistics, thread, frame, time);
  const bool recursive =
      std::any_of(stack.begin(), stack.end() - 1, [&](const OpenFrame& outer) { return outer.method == frame.method; });
  if (!recursive) {
    method.total += whole;
    if (cpu_time > frame.cpu_time) method.cpu += cpu_time - frame.cpu_time;
  }
  if (stack.size() == 1) return;
  OpenFrame& caller = stack[stack.size() - 2];
  caller.user += whole;
  caller.has_open_callee = frame.unfinished;
}

Result<> Statistics::finish() {
  if (finished_) return {};
  finished_ = true;
  first_states_.finish();
  calls_.close_all();
  // A wait that is still open lasts until the end.
  for (ScopeStatistics& statistics : by_scope_) {
    if (statistics.scope == nullptr) continue;
    statistics.exceptions.finish();
    for (const std::uint64_t from : statistics.endless)
      statistics.gap_time += statistics.last - std::min(from, statistics.last);
    leave_states(statistics, statistics.last);
  }
  return {};
}

void Statistics::leave_states(ScopeStatistics& statistics, std::uint64_t time) {
  ends_are_known_ = false;
  for (auto& [id, thread] : statistics.threads)
    if (thread.state != ThreadState::kRunning) leave_state(statistics, ThreadId(id), Time(time));
  ends_are_known_ = true;
}

}  // namespace jtrace::trace::io
