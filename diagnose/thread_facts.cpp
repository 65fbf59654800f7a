#include "diagnose/thread_facts.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "coreinspect/runtime/compile_task.h"
#include "coreinspect/tools/circles.h"
#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/tools/profile.h"
#include "coreinspect/tools/task_waits.h"
#include "diagnose/vm_threads.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

using coreinspect::LockFacts;

std::optional<WaitFact> wait_of(const LockFacts& locks, target::Address thread) {
  const coreinspect::Wait* wait = locks.wait_of(thread);
  if (!wait) return std::nullopt;
  return WaitFact{.kind = wait->kind,
                  .text = coreinspect::describe(*wait),
                  .object = wait->object,
                  .class_name = wait->class_name,
                  .owner = wait->owner_id,
                  .owner_name = wait->owner,
                  .owner_ended = wait->owner_ended};
}

ThreadFact fact_of(const coreinspect::ThreadReport& report) {
  ThreadFact fact{.key = report.java.id, .name = report.shown_name(), .tid = report.tid};
  fact.nid = report.native_id;
  if (report.java.address != 0) fact.state = report.java.state();
  fact.ran_ns = report.cpu_ns;
  fact.queued_ns = report.queued_ns;
  fact.measured_ns = report.measured_ns;
  fact.waits = report.waits;
  fact.frames = frames_of(report.walk);
  fact.whole = !report.walk.incomplete();
  if (report.held && report.held->stands) fact.held_by = target::describe_tracer(*report.held);
  return fact;
}

ThreadFact fact_of(const coreinspect::VirtualThread& thread) {
  ThreadFact fact{.key = thread.id, .name = thread.name, .is_virtual = true};
  fact.state = thread.state();
  fact.virtual_state = thread.vm_state;
  if (thread.mounted) fact.carrier = thread.carrier_name;
  fact.frames = frames_of(thread.walk);
  fact.whole = !thread.walk.incomplete();
  return fact;
}

void add_compilation(const coreinspect::Inspection& inspection, const coreinspect::ThreadReport& report,
                     ThreadFact& fact) {
  if (vm_thread_named(fact.name).work != VmWork::kCompiler) return;
  const auto task = coreinspect::read_compile_task(inspection.vm(), report.java.address);
  if (!task) return;
  fact.compile_id = task->id;
  const auto method = inspection.methods().method(task->method);
  fact.compiles = method ? (*method)->class_name + "::" + (*method)->name : "a method that cannot be read";
}

std::string text_of(const coreinspect::TaskWait& wait, const LockFacts::Party* awaited) {
  using Kind = coreinspect::TaskWait::Kind;
  if (wait.kind == Kind::kQueued || awaited == nullptr) return "waiting for a task in the queue of a pool";
  const std::string who = quoted(*awaited->name) + " #" + std::to_string(awaited->id);
  return wait.kind == Kind::kEnd ? "waiting for the end of " + who : "waiting for a task that " + who + " runs";
}

WaitFact fact_of(const coreinspect::TaskWait& wait, const LockFacts& locks) {
  using Kind = coreinspect::TaskWait::Kind;
  const LockFacts::Party* awaited = wait.awaited == 0 ? nullptr : locks.party(wait.awaited);
  WaitFact fact{.text = text_of(wait, awaited), .object = wait.pool};
  fact.kind = wait.kind == Kind::kEnd ? "end" : wait.kind == Kind::kRunning ? "task" : "queued";
  if (awaited == nullptr) return fact;
  fact.owner = awaited->id;
  fact.owner_name = *awaited->name;
  return fact;
}

std::vector<ThreadKey> ids_of(const std::vector<target::Address>& threads, const LockFacts& locks) {
  std::vector<ThreadKey> ids;
  for (const target::Address each : threads)
    if (const LockFacts::Party* party = locks.party(each)) ids.push_back(party->id);
  return ids;
}

bool has_time_limit(const LockFacts::Party& party) {
  return party.java ? party.java->state() == "TIMED_WAITING" : party.virtual_thread->state() == "TIMED_WAITING";
}

// Circles of locks, and those with what else one thread has to do for another: of these no wait ends by itself.
void add_deadlocks(const LockFacts& locks, const coreinspect::TaskWaits& tasks, ThreadsLook& look) {
  for (const auto& circle : locks.deadlocks()) look.deadlocks.push_back(ids_of(circle, locks));
  std::map<target::Address, target::Address> next, tasks_only;
  for (const LockFacts::Party& each : locks.parties())
    if (const auto* wait = locks.wait_of(each.key);
        wait && wait->kind != "wait" && wait->owner_thread != 0 && !has_time_limit(each))
      next[each.key] = wait->owner_thread;
  for (const coreinspect::TaskWait& each : tasks.waits)
    if (each.awaited != 0) tasks_only[each.waiter] = next[each.waiter] = each.awaited;
  for (const auto& circle : coreinspect::circles_in(next))
    if (std::any_of(circle.begin(), circle.end(), [&](target::Address each) { return tasks_only.contains(each); }))
      look.deadlocks.push_back(ids_of(circle, locks));
}

void add_tasks(const LockFacts& locks, const coreinspect::TaskWaits& tasks, ThreadsLook& look) {
  std::map<ThreadKey, const coreinspect::TaskWait*> waits;
  for (const coreinspect::TaskWait& each : tasks.waits)
    if (const LockFacts::Party* party = locks.party(each.waiter)) waits[party->id] = &each;
  for (ThreadFact& each : look.threads)
    if (const auto found = waits.find(each.key); found != waits.end() && each.key != 0)
      each.wait = fact_of(*found->second, locks);
  for (const coreinspect::Pool& each : tasks.pools)
    look.pools.push_back({each.object, ids_of(each.threads, locks), each.may_grow});
}

}  // namespace

std::vector<FrameFact> frames_of(const coreinspect::Walk& walk) {
  std::vector<FrameFact> frames;
  for (const coreinspect::Frame& frame : walk.frames)
    if (frame.method) frames.push_back({coreinspect::frame_name(frame), coreinspect::frame_source(frame), frame.bci});
  return frames;
}

ThreadsLook facts_of(const coreinspect::Inspection& inspection, const coreinspect::ThreadSnapshot& snapshot) {
  ThreadsLook look{.ns = monotonic_ns(), .pause = snapshot.pause, .stopped = snapshot.pause, .stops = 1};
  for (const auto& each : snapshot.threads) {
    look.threads.push_back(fact_of(each));
    add_compilation(inspection, each, look.threads.back());
  }
  for (const auto& each : snapshot.virtual_threads) look.threads.push_back(fact_of(each));
  if (!inspection.healthy()) return look;
  const LockFacts locks(inspection, snapshot);
  for (std::size_t i = 0; i < snapshot.threads.size(); ++i)
    if (const auto& java = snapshot.threads[i].java; java.address != 0)
      look.threads[i].wait = wait_of(locks, java.address);
  for (std::size_t i = 0; i < snapshot.virtual_threads.size(); ++i)
    look.threads[snapshot.threads.size() + i].wait = wait_of(locks, snapshot.virtual_threads[i].object);
  const coreinspect::TaskWaits tasks = coreinspect::task_waits(inspection, locks);
  add_deadlocks(locks, tasks, look);
  add_tasks(locks, tasks, look);
  return look;
}

}  // namespace jtrace::diagnose
