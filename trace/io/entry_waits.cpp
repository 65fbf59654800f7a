#include "trace/io/entry_waits.h"

#include <algorithm>
#include <string_view>

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kCoarseStep = 1'000'000;  // ns: how late the coarse clock of entries may be
constexpr std::size_t kMostWaits = 4096;  // of a thread: with --slower-than an entry comes after the waits in it

constexpr std::string_view kObject = "java/lang/Object", kClass = "java/lang/Class";

// Whether a synchronized method of that class cannot be one of the monitor's object. Of a class that extends another
// one than java.lang.Object it is not known, and the object of a static method is a java.lang.Class.
bool is_of_another_class(const Scope& scope, ObjectId monitor, std::uint64_t class_id) {
  if (!monitor.present() || !monitor.is_number()) return false;
  const auto object = scope.objects.find(monitor.value());
  if (object == scope.objects.end()) return false;
  if (object->second.is_array.value_or(0) != 0) return true;  // arrays have no such methods
  if (!object->second.class_id.present()) return false;
  const auto type = scope.classes.find(object->second.class_id.value());
  if (type == scope.classes.end()) return false;
  if (type->second.name == kObject) return true;
  return type->second.superclass == kObject && type->second.name != kClass && type->first != class_id;
}

// An entry has a time within a wait if the agent saw that the wait was on the way into a synchronized method
// (--slower-than). What a static one locks is the object of its class.
void note_class_object(Scope& scope, ObjectId monitor, const MethodInfo& entered) {
  if (!entered.is_static || !monitor.present() || !monitor.is_number()) return;
  const auto object = scope.objects.find(monitor.value());
  if (object == scope.objects.end() || !object->second.class_id.present()) return;
  const auto type = scope.classes.find(object->second.class_id.value());
  if (type == scope.classes.end() || type->second.name != kClass) return;
  const auto [noted, is_new] = scope.class_objects.try_emplace(monitor.value(), entered.class_id);
  if (!is_new && noted->second != entered.class_id) noted->second = 0;
  if (!is_new) return;
  // A class has one object: of two the caller had waited for one, just before the call.
  for (auto& [other, class_id] : scope.class_objects)
    if (other != monitor.value() && class_id == entered.class_id) class_id = noted->second = 0;
}

std::uint64_t ns_of(Time time) { return time.present() ? time.ns() : 0; }

}  // namespace

void EntryWaits::note(const Event& event, const Scope& scope) {
  switch (element_kind(event)) {
    case ElementKind::kMonContendedEnter: {
      const auto& enter = std::get<MonContendedEnter>(event);
      return begin(scope, enter.threadIdRef,
                   {.since = ns_of(enter.time), .is_blocked = true, .monitor = enter.objIdRef});
    }
    case ElementKind::kMonContendedEntered: {
      const auto& entered = std::get<MonContendedEntered>(event);
      return end(scope, entered.threadIdRef, entered.time);
    }
    case ElementKind::kMonWait: {
      const auto& wait = std::get<MonWait>(event);
      return begin(scope, wait.threadIdRef, {.since = ns_of(wait.time)});
    }
    case ElementKind::kMonWaited: {
      const auto& waited = std::get<MonWaited>(event);
      return end(scope, waited.threadIdRef, waited.time);
    }
    default: return;
  }
}

void EntryWaits::begin(const Scope& scope, ThreadId thread, Wait wait) {
  if (thread.present()) threads_[{scope.index, thread.value()}].open = wait;
}

void EntryWaits::end(const Scope& scope, ThreadId thread, Time time) {
  if (!thread.present() || !time.present()) return;
  const auto found = threads_.find({scope.index, thread.value()});
  if (found == threads_.end() || found->second.open.since == 0) return;
  Thread& of = found->second;
  of.last.push_back(of.open);
  of.last.back().until = std::max(time.ns(), of.open.since);
  of.open = {};
  ++of.noted;
  if (of.last.size() > kMostWaits) of.last.pop_front();
}

void EntryWaits::note_end_of_call(const Scope& scope, std::uint64_t thread) {
  if (threads_.empty()) return;
  if (const auto found = threads_.find({scope.index, thread}); found != threads_.end())
    found->second.spent = found->second.noted;
}

std::uint64_t EntryWaits::begin_of(Scope& scope, std::uint64_t thread, std::uint64_t method, std::uint64_t time) {
  if (threads_.empty()) return time;
  const auto entered = scope.methods.find(method);
  if (entered == scope.methods.end() || !entered->second.is_synchronized) return time;
  const auto found = threads_.find({scope.index, thread});
  if (found == threads_.end()) return time;
  // With --slower-than the entry of a call comes after the waits in it: those are passed over.
  std::deque<Wait>& last = found->second.last;
  auto wait = last.rbegin();
  for (; wait != last.rend() && wait->until > time + kCoarseStep; ++wait)
    if (wait->is_blocked && wait->since < time) note_class_object(scope, wait->monitor, entered->second);
  const auto newer = static_cast<std::uint64_t>(wait - last.rbegin());
  const bool is_its = wait != last.rend() && wait->is_blocked && found->second.noted - newer > found->second.spent &&
                      time <= wait->until + kCoarseStep &&
                      !is_of_another_class(scope, wait->monitor, entered->second.class_id);
  if (!is_its) return time;
  found->second.spent = found->second.noted - newer;
  return std::min(wait->since, time);
}

}  // namespace jtrace::trace::io
