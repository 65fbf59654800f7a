#include "trace/io/statistics.h"

#include <algorithm>
#include <numeric>

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kMaxPauses = 1'000'000;

std::uint64_t sum(const std::array<std::uint64_t, kElementCount>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t amount(const ScopeStatistics& statistics, Family family) {
  switch (family) {
    case Family::kThreads: return statistics.threads.size() + statistics.count(ElementKind::kThreadStart);
    case Family::kCalls:
      return statistics.count(ElementKind::kMethodEntry) + statistics.count(ElementKind::kMethodCount);
    case Family::kMonitors:
      return statistics.count(ElementKind::kMonContendedEnter) + statistics.count(ElementKind::kMonWait);
    case Family::kGc: return statistics.gc.count;
    case Family::kAllocations: return statistics.count(ElementKind::kObjAlloc);
  }
  return 0;
}

}  // namespace

void Waits::add(std::uint64_t ns) {
  ++count;
  total += ns;
  longest = std::max(longest, ns);
}

std::string_view family_name(Family family) {
  switch (family) {
    case Family::kThreads: return "threads";
    case Family::kCalls: return "calls";
    case Family::kMonitors: return "monitors";
    case Family::kGc: return "gc";
    case Family::kAllocations: return "allocations";
  }
  return {};
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

const ScopeStatistics* Statistics::chosen(std::string_view process_id, Family family) const {
  const ScopeStatistics* best = nullptr;
  for (const ScopeStatistics& each : by_scope_) {
    if (each.scope == nullptr || each.scope->process_id != process_id || amount(each, family) == 0) continue;
    if (best == nullptr || amount(each, family) > amount(*best, family)) best = &each;
  }
  return best;
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
  calls_.note(event, scope);
  switch (kind) {
    case ElementKind::kMonContendedEnter: {
      const auto& enter = std::get<MonContendedEnter>(event);
      enter_state(statistics, enter.threadIdRef, ThreadState::kBlocked, enter.time, enter.objIdRef, enter.threadOwner);
      break;
    }
    case ElementKind::kMonContendedEntered: {
      const auto& entered = std::get<MonContendedEntered>(event);
      leave_state(statistics, entered.threadIdRef, entered.time);
      break;
    }
    case ElementKind::kMonWait: {
      const auto& wait = std::get<MonWait>(event);
      const bool sleeps = wait.objIdRef == ObjectId::sleep();
      enter_state(statistics, wait.threadIdRef, sleeps ? ThreadState::kSleeping : ThreadState::kWaiting, wait.time,
                  sleeps ? ObjectId(0) : wait.objIdRef, {});
      break;
    }
    case ElementKind::kMonWaited: {
      const auto& waited = std::get<MonWaited>(event);
      leave_state(statistics, waited.threadIdRef, waited.time);
      break;
    }
    case ElementKind::kThreadEnd: {
      const auto& end = std::get<ThreadEnd>(event);
      leave_state(statistics, end.threadIdRef, end.time);
      break;
    }
    case ElementKind::kGcStart: statistics.last_gc_start = std::get<GcStart>(event).time.value_or(0); break;
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
  return {};
}

void Statistics::note_times(ScopeStatistics& statistics, const Event& event) {
  const Common common = common_of(event);
  if (common.time.present()) {
    const std::uint64_t ns = common.time.ns();
    statistics.first = statistics.first == 0 ? ns : std::min(statistics.first, ns);
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
  if (each.state == ThreadState::kBlocked) {
    each.blocked.add(ns);
    statistics.contention[monitor_class(*statistics.scope, each.monitor)].add(ns);
    statistics.waited_for[{thread.value(), each.owner}].add(ns);
  } else {
    (each.state == ThreadState::kSleeping ? each.sleeping : each.waiting).add(ns);
  }
  each.state = ThreadState::kRunning;
}

std::string Statistics::monitor_class(const Scope& scope, std::uint64_t object) const {
  const auto found = scope.objects.find(object);
  return found == scope.objects.end() ? "?" : scope.class_name(found->second);
}

void Statistics::note_gc(ScopeStatistics& statistics, const GcFinish& finish) {
  if (!finish.time.present()) return;
  const std::uint64_t start = statistics.last_gc_start;
  if (start == 0) ++statistics.gc_without_start;
  const std::uint64_t from = start != 0 && start <= finish.time.ns() ? start : finish.time.ns();
  statistics.gc.add(finish.time.ns() - from);
  statistics.last_gc_start = 0;
  if (statistics.pauses.size() < kMaxPauses)
    statistics.pauses.push_back(
        {from, finish.time.ns() - from, finish.usedObjectSpace.value_or(0), finish.totalObjectSpace.value_or(0)});
}

void Statistics::note_allocation(ScopeStatistics& statistics, const ObjAlloc& alloc) {
  const std::uint64_t bytes = alloc.size.value_or(0);
  const std::string name = alloc.classIdRef.present() ? statistics.scope->class_name(alloc.classIdRef.value()) : "?";
  Amount& of_class = statistics.allocations[name];
  ++of_class.count;
  of_class.bytes += bytes;
  if (!alloc.threadIdRef.present()) return;
  ThreadStatistics& thread = statistics.threads[alloc.threadIdRef.value()];
  ++thread.allocations;
  thread.allocated_bytes += bytes;
}

void Statistics::on_enter(Scope&, std::uint64_t, std::vector<OpenFrame>&) {}

// OpenFrame::user: the time that the frame's callees took.
void Statistics::on_leave(Scope& scope, std::uint64_t, std::vector<OpenFrame>& stack, std::uint64_t time,
                          std::uint64_t cpu_time) {
  const OpenFrame& frame = stack.back();
  const std::uint64_t whole = time - frame.time;
  MethodStatistics& method = of(scope).methods[frame.method];
  ++method.calls;
  method.self += whole - std::min(whole, frame.user);
  const bool recursive =
      std::any_of(stack.begin(), stack.end() - 1, [&](const OpenFrame& outer) { return outer.method == frame.method; });
  if (!recursive) {
    method.total += whole;
    if (cpu_time > frame.cpu_time) method.cpu += cpu_time - frame.cpu_time;
  }
  if (stack.size() > 1) stack[stack.size() - 2].user += whole;
}

Result<> Statistics::finish() {
  if (finished_) return {};
  finished_ = true;
  calls_.close_all();
  // Who waits until the end has waited that long.
  for (ScopeStatistics& statistics : by_scope_) {
    if (statistics.scope == nullptr) continue;
    for (auto& [id, thread] : statistics.threads)
      if (thread.state != ThreadState::kRunning) leave_state(statistics, ThreadId(id), Time(statistics.last));
  }
  return {};
}

}  // namespace jtrace::trace::io
