#include "diagnose/thread_facts.h"

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "coreinspect/runtime/compile_task.h"
#include "coreinspect/tools/call_mark.h"
#include "coreinspect/tools/crash.h"
#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/tools/pool_circles.h"
#include "coreinspect/tools/profile.h"
#include "coreinspect/tools/task_waits.h"
#include "diagnose/pin_causes.h"
#include "diagnose/vm_threads.h"
#include "diagnose/words.h"
#include "target/interrupted_call.h"

namespace jtrace::diagnose {
namespace {

using coreinspect::LockFacts;

WaitFact fact_of(const coreinspect::Work& work) {
  return {.kind = std::string(to_string(work.kind)),
          .text = "waiting for " + describe(work),
          .object = work.pool,
          .owner = work.id,
          .owner_name = work.thread != 0 ? work.name : ""};
}

std::optional<WaitFact> wait_of(const LockFacts& locks, target::Address thread, const coreinspect::Walk& walk) {
  const coreinspect::Wait* wait = locks.wait_of(thread);
  if (!wait) return std::nullopt;
  if (wait->work) return fact_of(*wait->work);
  return WaitFact{.kind = wait->kind,
                  .text = coreinspect::describe(*wait),
                  .object = wait->object,
                  .class_name = wait->class_name,
                  .owner = wait->owner_id,
                  .owner_name = wait->owner,
                  .owner_ended = wait->owner_ended,
                  .without_task = coreinspect::waits_for_work(*wait, walk)};
}

ThreadFact fact_of(const coreinspect::ThreadReport& report) {
  ThreadFact fact{.key = report.java.id, .name = report.shown_name(), .tid = report.tid};
  fact.nid = report.native_id;
  if (report.java.address != 0) fact.state = report.java.state();
  fact.ran_ns = report.cpu_ns;
  fact.queued_ns = report.queued_ns;
  fact.measured_ns = report.measured_ns;
  fact.waits = report.waits;
  fact.slept = report.slept;
  fact.in_call = report.registers && target::is_interrupted_call(*report.registers);
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

// ForkJoinPool.parallelism (JDK 19 and later) of a carrier's pool. It starts its threads when it needs them: there may
// be fewer now, or more while some are in the kernel. Of a live target it is read after the stop.
std::optional<int> parallelism_of(const coreinspect::ObjectModel& objects, target::Address carrier) {
  constexpr int kMost = 0x7fff;  // ForkJoinPool.MAX_CAP
  const auto pool = objects.reference(carrier, "pool");
  if (!pool || *pool == 0) return std::nullopt;
  const auto count = objects.value<std::int32_t>(*pool, "parallelism");
  return count && *count > 0 && *count <= kMost ? std::optional<int>(*count) : std::nullopt;
}

std::string text_of_frame(const coreinspect::Frame& frame) {
  if (frame.method) return place({coreinspect::frame_name(frame), coreinspect::frame_source(frame), frame.bci});
  const std::string name = printable(coreinspect::frame_name(frame));
  return frame.module.empty() || frame.name.empty() ? name : name + " (" + printable(frame.module) + ")";
}

// FrameFact::call.
void add_marks(const coreinspect::Inspection& inspection, const coreinspect::Walk& walk,
               std::vector<FrameFact>& frames) {
  if (frames.empty()) return;
  frames.front().call = coreinspect::mark_of_call(inspection, walk);
  const auto own = innermost_of_program(frames);
  if (own != frames.begin() && own != frames.end())
    frames[static_cast<std::size_t>(own - frames.begin())].call = coreinspect::mark_of_own_call(inspection, walk);
}

std::vector<ThreadKey> ids_of(const std::vector<target::Address>& threads, const LockFacts& locks) {
  std::vector<ThreadKey> ids;
  for (const target::Address each : threads)
    if (const LockFacts::Party* party = locks.party(each)) ids.push_back(party->id);
  return ids;
}

}  // namespace

std::vector<FrameFact> frames_of(const coreinspect::Walk& walk) {
  std::vector<FrameFact> frames;
  for (const coreinspect::Frame& frame : walk.frames)
    if (frame.method) frames.push_back({coreinspect::frame_name(frame), coreinspect::frame_source(frame), frame.bci});
  return frames;
}

std::vector<FrameFact> frames_of(const coreinspect::Inspection& inspection, const coreinspect::Walk& walk) {
  std::vector<FrameFact> frames = frames_of(walk);
  add_marks(inspection, walk, frames);
  return frames;
}

std::optional<CrashFact> crash_of(const coreinspect::Inspection& inspection,
                                  const coreinspect::ThreadSnapshot& snapshot) {
  constexpr std::ptrdiff_t kShown = 6;
  const auto crash = coreinspect::find_crash(inspection);
  if (!crash) return std::nullopt;
  CrashFact fact{.signal = coreinspect::signal_name(crash->signal), .fault = crash->fault, .nid = crash->thread};
  for (const coreinspect::ThreadReport& each : snapshot.threads) {
    const bool is_crashed =
        each.registers && each.registers->sp() == inspection.target().core()->threads().front().registers.sp();
    if (!is_crashed) continue;
    fact.thread = each.shown_name();
    const auto& frames = each.walk.frames;
    auto at = std::find_if(frames.begin(), frames.end(), [&](const auto& frame) { return frame.pc == crash->pc; });
    // The handler's frames say nothing of the place.
    if (at == frames.end())
      at = std::find_if(frames.begin(), frames.end(), [](const auto& frame) { return frame.method != nullptr; });
    const auto last = at + std::min<std::ptrdiff_t>(kShown, frames.end() - at);
    std::transform(at, last, std::back_inserter(fact.frames), text_of_frame);
    // And who called all that.
    if (std::none_of(at, last, coreinspect::is_of_the_program))
      if (const auto own = std::find_if(last, frames.end(), coreinspect::is_of_the_program); own != frames.end())
        fact.frames.push_back(text_of_frame(*own));
  }
  return fact;
}

ThreadsLook facts_of(const coreinspect::Inspection& inspection, const coreinspect::ThreadSnapshot& snapshot) {
  ThreadsLook look{.ns = monotonic_ns(), .pause = snapshot.pause, .stopped = snapshot.pause, .stops = 1};
  if (!inspection.vm().moves_while_running()) look.collections = snapshot.collections;
  for (const auto& each : snapshot.threads) {
    look.threads.push_back(fact_of(each));
    add_compilation(inspection, each, look.threads.back());
    if (ThreadFact& fact = look.threads.back(); fact.state == "RUNNABLE") add_marks(inspection, each.walk, fact.frames);
  }
  for (const auto& each : snapshot.virtual_threads) look.threads.push_back(fact_of(each));
  if (!inspection.healthy()) return look;
  LockFacts locks(inspection, snapshot);
  const coreinspect::TaskWaits tasks = coreinspect::task_waits(inspection, locks);
  locks.note(tasks);
  for (std::size_t i = 0; i < snapshot.threads.size(); ++i)
    if (const auto& java = snapshot.threads[i].java; java.address != 0)
      look.threads[i].wait = wait_of(locks, java.address, snapshot.threads[i].walk);
  for (std::size_t i = 0; i < snapshot.virtual_threads.size(); ++i) {
    const coreinspect::VirtualThread& thread = snapshot.virtual_threads[i];
    ThreadFact& fact = look.threads[snapshot.threads.size() + i];
    fact.wait = wait_of(locks, thread.object, thread.walk);
    if (!thread.mounted) continue;
    for (std::size_t at = 0; at < snapshot.threads.size(); ++at)
      if (const auto& java = snapshot.threads[at].java; java.address == thread.carrier_thread && java.object != 0)
        look.threads[at].parallelism = parallelism_of(inspection.objects(), java.object);
    fact.pinned_by = pin_causes(thread.walk, {.feature = inspection.vm().feature(),
                                              .wait = locks.wait_of(thread.object),
                                              .classes = &snapshot.lock_classes});
  }
  for (const auto& circle : locks.deadlocks()) look.deadlocks.push_back(ids_of(circle, locks));
  for (const auto& circle : locks.task_circles()) look.deadlocks.push_back(ids_of(circle, locks));
  for (const auto& circle : coreinspect::pool_circles(coreinspect::pool_waits(locks, tasks)))
    look.pool_circles.push_back({ids_of(circle.others, locks), circle.pools});
  for (const coreinspect::Pool& each : tasks.pools)
    look.pools.push_back({each.object, ids_of(each.threads, locks), each.may_grow, each.queued, each.is_scheduled});
  return look;
}

}  // namespace jtrace::diagnose
