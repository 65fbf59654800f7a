#include "agent/methods/callout_thread.h"

#include "base/clock.h"

namespace jtrace::agent {
namespace {

// Defines the calling thread. While a virtual thread is being mounted or unmounted, Java's current thread is not JVM
// TI's current thread; then only its id is known.
bool define_current(Recorder& recorder, JNIEnv* jni, std::uint64_t current) {
  const CurrentThread thread(recorder.jvmti, jni);
  if (thread.get() == nullptr) return false;
  const bool same = recorder.threads.id_of(jni, thread.get()) == current;
  return same ? recorder.threads.defined(jni, thread.get()) == current : recorder.threads.define_by_id(current);
}

template <class Record>
void write_exit_as(const CalloutGuard& guard, Record made, std::uint32_t method, record::RecordKind kind) {
  made.header.number = method;
  guard.write(made, kind);
}

}  // namespace

std::uint64_t current_thread(const Recorder& recorder, JNIEnv* jni) {
  const CurrentThread thread(recorder.jvmti, jni);
  return thread.get() == nullptr ? 0 : recorder.threads.id_of(jni, thread.get());
}

std::uint64_t call_time(const Recorder& recorder) {
  return recorder.config.has_flag(record::kPreciseTime)
             ? monotonic_ns()
             : recorder.writer.pool.header().coarse_clock.load(std::memory_order_acquire);
}

std::uint64_t current_cpu_time(const Recorder& recorder, JNIEnv* jni) {
  if (!recorder.config.has_flag(record::kCpuTime)) return 0;
  const CurrentThread thread(recorder.jvmti, jni);
  if (thread.get() == nullptr || recorder.threads.is_virtual(jni, thread.get())) return 0;
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

record::ChunkHeader* chunk_for(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t carrier, std::uint64_t current) {
  Recorder& recorder = guard.recorder();
  if (current == 0 || recorder.threads.is_own(current)) return nullptr;
  if (!recorder.threads.is_defined(current) && !define_current(recorder, jni, current)) {
    guard.producer().lose(recorder.writer, 1, current);
    return nullptr;
  }
  Producer& producer = guard.producer();
  if (carrier == 0) carrier = producer.direct_carrier(recorder.writer);
  if (carrier == 0 || carrier == ~0ull) carrier = current;
  return producer.direct_chunk(recorder.writer, carrier, current);
}

void write_exit(const CalloutGuard& guard, JNIEnv* jni, std::uint32_t method, record::RecordKind kind) {
  if (!guard.recorder().config.has_flag(record::kCpuTime))
    return write_exit_as(guard, record::CalloutRecord{}, method, kind);
  record::CpuTimeRecord made{};
  made.cpu_time = current_cpu_time(guard.recorder(), jni);
  write_exit_as(guard, made, method, kind);
}

}  // namespace jtrace::agent
