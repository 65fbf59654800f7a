#include "trace/io/call_stacks.h"

#include <algorithm>

#include "trace/exception_value.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {

CallStacks::Thread& CallStacks::thread_of(Scope& scope, std::uint64_t id) {
  if (last_ != nullptr && last_->scope == &scope && last_->id == id) return *last_;
  last_ = &threads_.try_emplace(ThreadKey{scope.index, id}, Thread{&scope, id, {}, cut_scopes_.contains(scope.index)})
               .first->second;
  return *last_;
}

std::vector<OpenFrame>* CallStacks::find(const Scope& scope, std::uint64_t thread) {
  const auto found = threads_.find(ThreadKey{scope.index, thread});
  return found == threads_.end() ? nullptr : &found->second.stack;
}

void CallStacks::note(const Event& event, Scope& scope) {
  if (scope.snapshot) return;
  switch (element_kind(event)) {
    case ElementKind::kMonContendedEnter:
    case ElementKind::kMonContendedEntered:
    case ElementKind::kMonWait:
    case ElementKind::kMonWaited: return entry_waits_.note(event, scope);
    case ElementKind::kMethodEntry: return enter(std::get<MethodEntry>(event), scope);
    case ElementKind::kMethodExit: return leave(std::get<MethodExit>(event), scope);
    case ElementKind::kThreadEnd: {
      const ThreadEnd& end = std::get<ThreadEnd>(event);
      if (!end.threadIdRef.present()) return;
      entry_waits_.forget(scope, end.threadIdRef.value());
      const auto found = threads_.find(ThreadKey{scope.index, end.threadIdRef.value()});
      if (found == threads_.end()) return;
      closed_at_end_ += found->second.stack.size();
      close(found->second, 0, end.time.value_or(last_time_), 0);
      last_ = nullptr;
      threads_.erase(found);
      return;
    }
    case ElementKind::kTraceEnd: return close_scope(scope, std::get<TraceEnd>(event).time.value_or(last_time_));
    case ElementKind::kOption:
      if (const auto gap = gap_of(event, scope)) lose(scope, *gap);
      // Ends in the gap are not reported.
      else if (std::get<Option>(event).key.view() == kPausedKey) cut_scope(scope, last_time_);
      else if (std::get<Option>(event).key.view() == kCallsEndKey && scope.calls_end != 0)
        close_scope(scope, scope.calls_end);
      // After its own events: the part before this one is missing.
      else if (std::get<Option>(event).key.view() == kContinuesKey && has_threads(scope)) cut_scope(scope, last_time_);
      return;
    default: return;
  }
}

void CallStacks::enter(const MethodEntry& entry, Scope& scope) {
  if (scope.calls_end != 0) return;  // by a callout that was in progress: its exit will not be written
  Thread& thread = thread_of(scope, entry.threadIdRef.present() ? entry.threadIdRef.value() : 0);
  last_time_ = std::max(last_time_, entry.time.value_or(last_time_));
  const std::uint64_t method = entry.methodIdRef.present() ? entry.methodIdRef.value() : 0;
  const std::uint64_t time = entry.time.value_or(last_time_);
  const std::uint64_t begin = entry_waits_.begin_of(scope, thread.id, method, time);
  thread.stack.push_back({.method = method,
                          .ticket = entry.ticket.value_or(0),
                          .has_ticket = entry.ticket.present(),
                          .time = thread.stack.empty() ? begin : std::max(begin, thread.stack.back().time),
                          .waited_before = begin < time,
                          .cpu_time = entry.threadCpuTime.value_or(0)});
  thread.stack.back().cut = thread.stack.size() == 1 && (thread.cut || entry.stackDepth.value_or(1) > 1);
  listener_.on_enter(scope, thread.id, thread.stack);
}

void CallStacks::leave(const MethodExit& exit, Scope& scope) {
  if (scope.calls_end != 0) return;
  Thread& thread = thread_of(scope, exit.threadIdRef.present() ? exit.threadIdRef.value() : 0);
  last_time_ = std::max(last_time_, exit.time.value_or(last_time_));
  std::size_t depth = thread.stack.size();
  for (; depth > 0; --depth) {
    const OpenFrame& frame = thread.stack[depth - 1];
    if (exit.ticket.present() && frame.has_ticket ? frame.ticket == exit.ticket.value()
                                                  : exit.methodIdRef == MethodId(frame.method))
      break;
  }
  if (depth == 0) {
    ++unmatched_exits_;
    return;
  }
  if (const Value* exception = exception_of(exit)) {
    OpenFrame& frame = thread.stack[depth - 1];
    frame.threw = true;
    if (exception->objIdRef.present() && exception->objIdRef.is_number()) frame.exception = exception->objIdRef.value();
  }
  closed_by_others_ += thread.stack.size() - depth;
  close(thread, depth - 1, exit.time.value_or(last_time_), exit.threadCpuTime.value_or(0));
}

void CallStacks::close(Thread& thread, std::size_t depth, std::uint64_t time, std::uint64_t cpu_time, bool unfinished) {
  while (thread.stack.size() > depth) {
    thread.stack.back().unfinished = unfinished;
    listener_.on_leave(*thread.scope, thread.id, thread.stack, std::max(time, thread.stack.back().time), cpu_time);
    entry_waits_.note_end_of_call(*thread.scope, thread.id);
    thread.stack.pop_back();
  }
}

bool CallStacks::is_cut(const Scope& scope, std::uint64_t thread) const {
  const auto found = threads_.find(ThreadKey{scope.index, thread});
  return found != threads_.end() && found->second.cut;
}

void CallStacks::cut(Thread& thread, std::uint64_t time) {
  closed_by_gaps_ += thread.stack.size();
  close(thread, 0, time, 0, true);
  thread.cut = true;
}

void CallStacks::lose(Scope& scope, const Gap& gap) {
  const std::uint64_t time = gap.from != 0 ? gap.from : last_time_;
  if (gap.thread != 0) entry_waits_.forget(scope, gap.thread);
  if (gap.thread != 0) cut(thread_of(scope, gap.thread), time);
  else cut_scope(scope, time);
  listener_.on_gap(scope, gap);
}

bool CallStacks::has_threads(const Scope& scope) const {
  return std::any_of(threads_.begin(), threads_.end(), [&](const auto& each) { return each.second.scope == &scope; });
}

void CallStacks::cut_scope(Scope& scope, std::uint64_t time) {
  cut_scopes_.insert(scope.index);
  entry_waits_.forget_all(scope);
  for (auto& [key, thread] : threads_)
    if (thread.scope == &scope) cut(thread, time);
}

void CallStacks::close_scope(Scope& scope, std::uint64_t time) {
  for (auto& [key, thread] : threads_) {
    if (thread.scope != &scope) continue;
    closed_at_end_ += thread.stack.size();
    close(thread, 0, time, 0, true);
  }
}

void CallStacks::close_all() {
  for (auto& [key, thread] : threads_) {
    closed_at_end_ += thread.stack.size();
    close(thread, 0, last_time_, 0, true);
  }
}

}  // namespace jtrace::trace::io
