#include "agent/methods/probe_thread.h"

#include "base/clock.h"

namespace jtrace::agent {
namespace {

// The definition of the calling thread. In the middle of a virtual thread's mount or unmount Java's current thread is
// not the one of JVM TI: then what is known of it is its id.
bool define_current(AgentSession& session, JNIEnv* jni, std::uint64_t current) {
  jthread thread = nullptr;
  if (session.jvmti->GetCurrentThread(&thread) != JVMTI_ERROR_NONE || thread == nullptr) return false;
  const bool same = static_cast<std::uint64_t>(jni->GetLongField(thread, session.thread_tid)) == current;
  const bool defined = same ? session.thread_id(jni, thread) == current : session.define_by_id(current);
  jni->DeleteLocalRef(thread);
  return defined;
}

template <class Record>
void write_exit_as(const CallbackGuard& guard, Record made, std::uint32_t method, record::RecordKind kind) {
  made.header.number = method;
  guard.write(made, kind);
}

}  // namespace

std::uint64_t current_thread(AgentSession& session, JNIEnv* jni) {
  jthread thread = nullptr;
  if (session.jvmti->GetCurrentThread(&thread) != JVMTI_ERROR_NONE || thread == nullptr) return 0;
  const auto id = static_cast<std::uint64_t>(jni->GetLongField(thread, session.thread_tid));
  jni->DeleteLocalRef(thread);
  return id;
}

std::uint64_t current_cpu_time(AgentSession& session, JNIEnv* jni) {
  if (!session.config.has_flag(record::kCpuTime)) return 0;
  jthread thread = nullptr;
  if (session.jvmti->GetCurrentThread(&thread) != JVMTI_ERROR_NONE || thread == nullptr) return 0;
  const bool is_virtual =
      session.virtual_thread_class != nullptr && jni->IsInstanceOf(thread, session.virtual_thread_class);
  jni->DeleteLocalRef(thread);
  return is_virtual ? 0 : clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

record::ChunkHeader* chunk_for(const CallbackGuard& guard, JNIEnv* jni, std::uint64_t carrier, std::uint64_t current) {
  AgentSession& session = guard.session();
  if (current == 0 || session.methods == nullptr || session.is_own_thread(current)) return nullptr;
  if (!session.knows_thread(current) && !define_current(session, jni, current)) {
    session.count_dropped(1);
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
