#include "agent/methods/probe_thread.h"

#include "base/clock.h"

namespace jtrace::agent {
namespace {

// Defines the calling thread. While a virtual thread is being mounted or unmounted, Java's current thread is not JVM
// TI's current thread; then only its id is known.
bool define_current(AgentSession& session, JNIEnv* jni, std::uint64_t current) {
  const CurrentThread thread(session.jvmti, jni);
  if (thread.get() == nullptr) return false;
  const bool same = session.threads.id_of(jni, thread.get()) == current;
  return same ? session.threads.defined(jni, thread.get()) == current : session.threads.define_by_id(current);
}

template <class Record>
void write_exit_as(const CallbackGuard& guard, Record made, std::uint32_t method, record::RecordKind kind) {
  made.header.number = method;
  guard.write(made, kind);
}

}  // namespace

std::uint64_t current_thread(AgentSession& session, JNIEnv* jni) {
  const CurrentThread thread(session.jvmti, jni);
  return thread.get() == nullptr ? 0 : session.threads.id_of(jni, thread.get());
}

std::uint64_t current_cpu_time(AgentSession& session, JNIEnv* jni) {
  if (!session.config.has_flag(record::kCpuTime)) return 0;
  const CurrentThread thread(session.jvmti, jni);
  if (thread.get() == nullptr || session.threads.is_virtual(jni, thread.get())) return 0;
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

record::ChunkHeader* chunk_for(const CallbackGuard& guard, JNIEnv* jni, std::uint64_t carrier, std::uint64_t current) {
  AgentSession& session = guard.session();
  if (current == 0 || session.methods == nullptr || session.threads.is_own(current)) return nullptr;
  if (!session.threads.is_defined(current) && !define_current(session, jni, current)) {
    guard.producer().lose(session.writer, 1, current);
    return nullptr;
  }
  Producer& producer = guard.producer();
  if (carrier == 0) carrier = producer.direct_carrier(session.writer);
  if (carrier == 0 || carrier == ~0ull) carrier = current;
  return producer.direct_chunk(session.writer, carrier, current);
}

void write_exit(const CallbackGuard& guard, JNIEnv* jni, std::uint32_t method, record::RecordKind kind) {
  if (!guard.session().config.has_flag(record::kCpuTime))
    return write_exit_as(guard, record::ProbeRecord{}, method, kind);
  record::CpuTimeRecord made{};
  made.cpu_time = current_cpu_time(guard.session(), jni);
  write_exit_as(guard, made, method, kind);
}

}  // namespace jtrace::agent
