// gcStart, gcFinish: one stop-the-world pause. The callbacks run in the VM thread at a safepoint: no JNI, no JVM TI, no
// waiting. A pause may begin while the trace runs and end while it is paused, or the reverse; it is written whole or
// not at all.
#include "agent/callbacks.h"

namespace jtrace::agent {
namespace {

void JNICALL garbage_collection_start(jvmtiEnv*) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  AgentSession& session = guard.session();
  if (session.collections.depth.fetch_add(1, std::memory_order_relaxed) != 0) return;
  const bool wanted = !session.paused.load(std::memory_order_relaxed);
  session.collections.start_written.store(wanted, std::memory_order_relaxed);
  if (!wanted) return;
  record::ThreadRecord made{};
  made.thread = session.threads.defined_vm(guard.producer());
  made.header.number = session.collections.number.fetch_add(1, std::memory_order_relaxed) + 1;
  guard.write(made, record::RecordKind::kGcStart, false);
}

void JNICALL garbage_collection_finish(jvmtiEnv*) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  AgentSession& session = guard.session();
  const std::uint32_t depth = session.collections.depth.load(std::memory_order_relaxed);
  if (depth == 0) return;  // the pause began before the trace
  session.collections.depth.store(depth - 1, std::memory_order_relaxed);
  if (depth > 1 || !session.collections.start_written.load(std::memory_order_relaxed)) return;
  const std::uint32_t number = session.collections.number.load(std::memory_order_relaxed);
  record::GcFinishRecord made{};
  made.thread = session.threads.defined_vm(guard.producer());
  made.header.number = number;
  const bool has_figures = read_heap_counters(session.config, made.used, made.total);
  made.header.flags = has_figures ? record::kHasFigures : record::kFiguresFollow;
  guard.write(made, record::RecordKind::kGcFinish, false);
  if (has_figures) return;
  session.collections.figures_wanted.store(number, std::memory_order_release);
  session.wake();
}

}  // namespace

bool read_heap_counters(const Config& config, std::uint64_t& used, std::uint64_t& total) {
  if (config.used_counters.empty()) return false;
  used = 0;
  total = 0;
  for (const std::uint64_t* counter : config.used_counters)
    used += *static_cast<const volatile std::uint64_t*>(counter);
  for (const std::uint64_t* counter : config.committed_counters)
    total += *static_cast<const volatile std::uint64_t*>(counter);
  return true;
}

void install_gc_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_GARBAGE_COLLECTION_START, garbage_collection_start);
  callbacks.set(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, garbage_collection_finish);
}

}  // namespace jtrace::agent
