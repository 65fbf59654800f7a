// gcStart, gcFinish: one stop-the-world pause. The callbacks run in the VM thread at a safepoint: no JNI, no JVM TI, no
// waiting. A pause may begin while the trace runs and end while it is paused, or the reverse; it is written whole or
// not at all.
#include <cstring>

#include "agent/agent_session.h"
#include "agent/callbacks.h"
#include "agent/heap_words.h"

namespace jtrace::agent {
namespace {

using record::CountersFields;

// The sums of the counters that jtrace named. False if it named none.
bool read_heap_counters(const CountersFields& counters, std::uint64_t& used, std::uint64_t& total) {
  if (counters.used.empty()) return false;
  used = 0;
  total = 0;
  for (const std::uint64_t counter : counters.used) used += read_counter(counter);
  for (const std::uint64_t counter : counters.committed) total += read_counter(counter);
  if (counters.survivor != 0) total += size_of_survivor(counters);
  return true;
}

bool knows_used_before(const CountersFields& counters) { return counters.used_before != 0 || !counters.spaces.empty(); }

// What the end of the pause is compared with.
void note_start(Collections& collections, const CountersFields& counters) {
  collections.noted_by.store(&counters, std::memory_order_relaxed);
  for (std::size_t i = 0; i < counters.collectors.size(); ++i)
    collections.invocations[i].store(read_counter(counters.collectors[i].invocations), std::memory_order_relaxed);
  std::uint64_t used = used_in(counters.spaces), total = 0;
  if (counters.used_before == 0 || read_heap_counters(counters, used, total))
    collections.used_before.store(used, std::memory_order_relaxed);
}

bool is_no_cause(const char* text) { return std::strncmp(text, "No GC", record::kCauseRoom) == 0; }

// The collectors that counted this pause: within the events, or around them (phases of G1's concurrent cycle), where
// its end is not noted yet.
std::uint32_t kinds_of_pause(const Collections& collections, const CountersFields& counters) {
  const auto& collectors = counters.collectors;
  std::uint32_t kinds = 0;
  for (std::size_t i = 0; i < collectors.size(); ++i) {
    const std::uint64_t before = collections.invocations[i].load(std::memory_order_relaxed);
    const bool goes_on = read_counter(collectors[i].last_entry) > read_counter(collectors[i].last_exit);
    if (goes_on || read_counter(collectors[i].invocations) != before)
      kinds |= bit_of(record::CollectionKind{collectors[i].kind});
  }
  return kinds;
}

// G1 of JDK 8 counts no remark. It also stops, and collects nothing, to begin a concurrent cycle for a full Metaspace:
// if the last cause was that, the pause may be either, and its kind is not known.
void settle_uncounted(const CountersFields& counters, record::GcCauseRecord& made) {
  if (made.kinds != 0 || counters.uncounted == 0) return;
  if (counters.last_cause != 0 && std::strncmp(text_at(counters.last_cause), "Metadata GC", 11) != 0)
    made.kinds = counters.uncounted;
  else made.header.flags = static_cast<std::uint16_t>(made.header.flags & ~record::kHasKinds);
}

// The JVM sets the cause around the event (G1, ZGC, Shenandoah) or within it (the others: there it is in lastCause by
// now). Both texts are the JVM's own memory of kCauseRoom bytes, which only the thread that collects writes.
void read_cause(const CountersFields& counters, record::GcCauseRecord& made) {
  if (counters.cause == 0 || counters.last_cause == 0) return;
  const bool is_over = is_no_cause(text_at(counters.cause));
  // A phase of G1's concurrent cycle has no cause of its own; lastCause is that of the collection before it, as it may
  // be where nothing was counted.
  constexpr std::uint32_t kWhole = bit_of(record::CollectionKind::kYoung) | bit_of(record::CollectionKind::kFull);
  const bool takes_last = is_over && (made.kinds & kWhole) != 0;
  if (is_over && made.kinds == 0) return;
  std::memcpy(made.cause, text_at(takes_last ? counters.last_cause : counters.cause), record::kCauseRoom);
  made.cause[record::kCauseRoom - 1] = 0;
  made.header.flags |= record::kHasCause;
  if (!is_over && !is_no_cause(text_at(counters.last_cause))) made.header.flags |= record::kWithinAnother;
}

void write_cause(CallbackGuard& guard, const CountersFields& counters, std::uint64_t thread, std::uint32_t number) {
  const Collections& collections = session_of(guard).collections;
  if (counters.cause == 0 && counters.collectors.empty()) return;
  if (collections.noted_by.load(std::memory_order_relaxed) != &counters) return;  // they came within the pause
  record::GcCauseRecord made{};
  made.thread = thread;
  made.header.number = number;
  made.kinds = kinds_of_pause(collections, counters);
  if (!counters.collectors.empty()) made.header.flags |= record::kHasKinds;
  settle_uncounted(counters, made);
  read_cause(counters, made);
  made.used_before = collections.used_before.load(std::memory_order_relaxed);
  // G1 has not counted anything before it has filled its first region.
  if (knows_used_before(counters) && made.used_before != 0) made.header.flags |= record::kHasUsedBefore;
  guard.write(made, record::RecordKind::kGcCause, false);
}

void JNICALL garbage_collection_start(jvmtiEnv*) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  AgentSession& session = session_of(guard);
  if (session.collections.depth.fetch_add(1, std::memory_order_relaxed) != 0) return;
  const bool wanted = !session.paused.load(std::memory_order_relaxed);
  session.collections.start_written.store(wanted, std::memory_order_relaxed);
  if (!wanted) return;
  record::ThreadRecord made{};
  made.thread = session.threads.defined_vm(guard.producer());
  made.header.number = session.collections.number.fetch_add(1, std::memory_order_relaxed) + 1;
  note_start(session.collections, session.counters());
  guard.write(made, record::RecordKind::kGcStart, false);
}

void JNICALL garbage_collection_finish(jvmtiEnv*) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  AgentSession& session = session_of(guard);
  const std::uint32_t depth = session.collections.depth.load(std::memory_order_relaxed);
  if (depth == 0) return;  // the pause began before the trace
  session.collections.depth.store(depth - 1, std::memory_order_relaxed);
  if (depth > 1 || !session.collections.start_written.load(std::memory_order_relaxed)) return;
  const std::uint32_t number = session.collections.number.load(std::memory_order_relaxed);
  record::GcFinishRecord made{};
  made.thread = session.threads.defined_vm(guard.producer());
  made.header.number = number;
  const CountersFields& counters = session.counters();
  write_cause(guard, counters, made.thread, number);
  const bool has_figures = read_heap_counters(counters, made.used, made.total);
  made.header.flags = has_figures ? record::kHasFigures : record::kFiguresFollow;
  if (!has_figures && !counters.spaces.empty()) {
    made.used = used_in(counters.spaces);
    made.header.flags |= record::kHasUsed;
  }
  guard.write(made, record::RecordKind::kGcFinish, false);
  if (has_figures) return;
  session.collections.figures_wanted.store(number, std::memory_order_release);
  session.wakeup.wake();
}

}  // namespace

void install_gc_callbacks(EventCallbacks& callbacks) {
  callbacks.set(JVMTI_EVENT_GARBAGE_COLLECTION_START, garbage_collection_start);
  callbacks.set(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, garbage_collection_finish);
}

}  // namespace jtrace::agent
