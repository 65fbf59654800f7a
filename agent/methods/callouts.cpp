#include "agent/methods/callouts.h"

#include <algorithm>
#include <bit>

#include "agent/boot_class.h"
#include "agent/classfile/callout_methods.h"
#include "agent/classfile/handler_use.h"
#include "agent/methods/callout_area.h"
#include "agent/methods/callout_exceptions.h"
#include "agent/methods/callout_guard.h"
#include "agent/methods/callout_objects.h"
#include "agent/methods/callout_thread.h"
#include "agent/methods/callout_values.h"
#include "agent/methods/left_constructors.h"
#include "agent/native_methods.h"
#include "base/clock.h"
#include "trace/record/clock_gap.h"

namespace jtrace::agent {
namespace {

// Called when a callout has no chunk for its thread, or no room in it. Returns the header of a chunk; 0: do not write.
jlong slow(JNIEnv* jni, jlong carrier, jlong current) {
  CalloutGuard guard;
  if (!guard || carrier == 0) return 0;
  const auto owner = static_cast<std::uint64_t>(carrier);
  record::ChunkHeader* chunk = chunk_for(guard, jni, owner, static_cast<std::uint64_t>(current));
  if (chunk == nullptr) return 0;
  if (write_constructor(guard, jni, static_cast<std::uint64_t>(current)))
    chunk = chunk_for(guard, jni, owner, static_cast<std::uint64_t>(current));
  if (chunk == nullptr) return 0;
  CalloutArea& area = guard.area();
  const auto address = reinterpret_cast<std::uint64_t>(chunk);
  area.entry(owner).store(address - area.base(), std::memory_order_relaxed);
  return static_cast<jlong>(address);
}

void write_late_entry(const CalloutGuard& guard, const OpenCalls::Frame& frame) {
  const auto fill = [&](auto& entry) {
    entry.header.number = frame.number();
    entry.start = frame.start;
    if (guard.recorder().config.has_flag(record::kCpuTime)) entry.cpu_time = frame.cpu_time;
  };
  if (frame.object == 0) {
    record::LateEntryRecord entry{};
    fill(entry);
    return guard.write(entry, record::RecordKind::kLateEntry);
  }
  record::LateEntryOfRecord entry{};
  fill(entry);
  entry.object = frame.object;
  guard.write(entry, record::RecordKind::kLateEntryOf);
}

// When the call began at the latest: it may have been after the time that it read from the coarse clock.
std::uint64_t latest_start(const Recorder& recorder, const OpenCalls::Frame& call, std::uint64_t now) {
  if (recorder.config.has_flag(record::kPreciseTime) || call.has_exact_start()) return call.start;
  return std::min(now, record::latest_reading(recorder.writer.pool.header(), call.start));
}

// --slower-than: ends the innermost open call of the method, and the calls it made that ended without a callout
// (constructors left by an exception of super()). If the call is wanted, the entries of all open calls are written
// first.
void end_call(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread, std::uint32_t method,
              record::RecordKind kind) {
  Recorder& recorder = guard.recorder();
  OpenCalls& calls = guard.area().open_calls();
  OpenCalls::Stack* stack = calls.find(thread);
  if (stack == nullptr) return;
  calls.settle_wait(*stack);
  const std::uint64_t at = stack->find(method);
  if (at == 0) return;  // it began before the trace
  OpenCalls::Frame& mine = stack->frames[at - 1];
  const std::uint64_t now = call_time(recorder), took = now - mine.start;
  const bool may_be_longest = calls.keeps_longest() && !calls.is_slow(took);
  const std::uint64_t start = may_be_longest ? latest_start(recorder, mine, now) : mine.start;
  if ((mine.is_written() || calls.is_wanted(took, now - start)) && chunk_for(guard, jni, 0, thread) != nullptr) {
    drop_left_constructors(guard, jni, thread, *stack);
    if (may_be_longest) {
      calls.note_longest(now - start);
      // It made no call that is written. After a step of the usual length its own time stays.
      if (!mine.is_written() && start > mine.start + record::kLateTick) mine.start = start;
    }
    for (std::uint64_t i = 0; i < at; ++i) {
      OpenCalls::Frame& frame = stack->frames[i];
      if (frame.is_written() || frame.has_left()) continue;
      write_kept(guard, *stack, i, frame.number(), false);
      write_late_entry(guard, frame);
      frame.set_written();
    }
    if (kind == record::RecordKind::kMethodExit) write_kept(guard, *stack, at - 1, method, true);
    write_exit(guard, jni, method, kind);
  }
  stack->leave(at);
}

void ended(JNIEnv* jni, jint number, jint kind) {
  CalloutGuard guard;
  if (!guard) return;
  end_call(guard, jni, current_thread(guard.recorder(), jni), static_cast<std::uint32_t>(number),
           static_cast<record::RecordKind>(kind));
}

// A call begins in a thread that has no stack, or whose stack is full. Returns a stack with room for the call; 0: none.
jlong opened(JNIEnv* jni, jlong carrier, jlong thread) {
  CalloutGuard guard;
  const auto id = static_cast<std::uint64_t>(thread);
  if (!guard || thread == 0 || guard.recorder().threads.is_own(id)) return 0;
  if (OpenCalls::Stack* full = guard.area().open_calls().find(id); full != nullptr)
    return make_room(guard, jni, id, *full) ? reinterpret_cast<jlong>(full) : 0;
  if (carrier == thread) guard.producer().called_out_as = id;
  return reinterpret_cast<jlong>(guard.tracer().open_calls_of(id));
}

void idle(jlong thread) {
  CalloutGuard guard;
  if (guard) guard.area().open_calls().release(static_cast<std::uint64_t>(thread));
}

// Where an exception leaves a frame, its call ends too.
void exception(JNIEnv* jni, jobject thrown, const ExceptionSite& site, jint number) {
  const ExceptionPlace place = site.place;
  CalloutGuard guard;
  if (!guard) return;
  Recorder& recorder = guard.recorder();
  LocalFrame frame(jni, 32);
  const std::uint64_t current = current_thread(recorder, jni);
  if (chunk_for(guard, jni, 0, current) == nullptr) return;
  const auto method = static_cast<std::uint32_t>(number);
  const std::uint64_t event = place == ExceptionPlace::kHandler ? record::kCatchEvent : record::kThrowEvent;
  if (recorder.traces(event)) write_exception(guard, jni, thrown, site, method);
  if (place != ExceptionPlace::kLeaves) return;
  if (!recorder.traces(record::kMethodEvent)) {
    if (recorder.traces(record::kCallEvent)) write_exit(guard, jni, method, record::RecordKind::kFrameEnd);
    return;
  }
  if (recorder.config.slower_than != 0) {
    end_call(guard, jni, current, method, record::RecordKind::kMethodUnwind);
  } else {
    write_exit(guard, jni, method, record::RecordKind::kMethodUnwind);
  }
}

void thrown(JNIEnv* jni, jobject object, jint line, jint number) {
  exception(jni, object, {ExceptionPlace::kThrow, static_cast<std::uint32_t>(line)}, number);
}
void unwound(JNIEnv* jni, jobject object, jint number) { exception(jni, object, {ExceptionPlace::kLeaves}, number); }
std::uint16_t flags_of(classfile::HandlerUse use) {
  if (use == classfile::HandlerUse::kUnknown) return 0;
  return use == classfile::HandlerUse::kDrops ? record::kDropsException : record::kUsesException;
}
void caught(JNIEnv* jni, jobject object, jint line, jint number) {
  exception(jni, object,
            {ExceptionPlace::kHandler, classfile::line_of_caught(line), flags_of(classfile::use_of_caught(line))},
            number);
}

// A call of a thread without counters of its own was counted in the shared block.
void uncounted(jlong carrier) {
  CalloutGuard guard(CallbackGuard::kLifecycle);
  if (!guard || carrier == 0) return;
  guard.producer().called_out_as = static_cast<std::uint64_t>(carrier);
  guard.area().counts().claim(guard.producer().called_out_as);
}

constexpr CalloutNatives kNatives = {slow,  thrown, unwound,     caught,          uncounted,       opened,
                                     ended, idle,   write_value, identify_object, object_received, object_made};

// The native methods. The JVM may call them until it ends.
const CalloutNatives* natives() {
  CalloutArea* area = CalloutArea::get();
  return area == nullptr ? nullptr : area->natives().load(std::memory_order_acquire);
}
jlong JNICALL call_slow(JNIEnv* jni, jclass, jlong carrier, jlong current) {
  const CalloutNatives* table = natives();
  return table == nullptr ? 0 : table->slow(jni, carrier, current);
}
void JNICALL call_thrown(JNIEnv* jni, jclass, jobject object, jint line, jint number) {
  if (const CalloutNatives* table = natives()) table->thrown(jni, object, line, number);
}
void JNICALL call_unwound(JNIEnv* jni, jclass, jobject object, jint number) {
  if (const CalloutNatives* table = natives()) table->unwound(jni, object, number);
}
void JNICALL call_caught(JNIEnv* jni, jclass, jobject object, jint line, jint number) {
  if (const CalloutNatives* table = natives()) table->caught(jni, object, line, number);
}
void JNICALL call_uncounted(JNIEnv*, jclass, jlong carrier) {
  if (const CalloutNatives* table = natives()) table->uncounted(carrier);
}
jlong JNICALL call_opened(JNIEnv* jni, jclass, jlong carrier, jlong thread) {
  const CalloutNatives* table = natives();
  return table == nullptr ? 0 : table->opened(jni, carrier, thread);
}
void JNICALL call_ended(JNIEnv* jni, jclass, jint number, jint kind) {
  if (const CalloutNatives* table = natives()) table->ended(jni, number, kind);
}
void JNICALL call_idle(JNIEnv*, jclass, jlong thread) {
  if (const CalloutNatives* table = natives()) table->idle(thread);
}
jlong JNICALL call_identify(JNIEnv* jni, jclass, jobject object, jint is_new) {
  const CalloutNatives* table = natives();
  return table == nullptr ? 0 : table->identify(jni, object, is_new);
}
void JNICALL call_received(JNIEnv* jni, jclass, jobject object, jint number, jint is_new, jlong thread) {
  if (const CalloutNatives* table = natives()) table->received(jni, object, number, is_new, thread);
}
// Called for the current kernel thread. Uses nothing of a session.
jlong JNICALL call_cpu_time(JNIEnv*, jclass) { return static_cast<jlong>(clock_ns(CLOCK_THREAD_CPUTIME_ID)); }
void JNICALL call_made(JNIEnv* jni, jclass, jobject object, jint site, jint number) {
  if (const CalloutNatives* table = natives()) table->made(jni, object, site, number);
}
void pass_value(JNIEnv* jni, const CalloutValue& value) {
  if (const CalloutNatives* table = natives()) table->value(jni, value);
}
void JNICALL call_int(JNIEnv* jni, jclass, jint value, jint position, jint number) {
  pass_value(jni, {static_cast<std::uint32_t>(value), nullptr, false, position, number});
}
void JNICALL call_long(JNIEnv* jni, jclass, jlong value, jint position, jint number) {
  pass_value(jni, {static_cast<std::uint64_t>(value), nullptr, false, position, number});
}
void JNICALL call_float(JNIEnv* jni, jclass, jfloat value, jint position, jint number) {
  pass_value(jni, {std::bit_cast<std::uint32_t>(value), nullptr, false, position, number});
}
void JNICALL call_double(JNIEnv* jni, jclass, jdouble value, jint position, jint number) {
  pass_value(jni, {std::bit_cast<std::uint64_t>(value), nullptr, false, position, number});
}
void JNICALL call_object(JNIEnv* jni, jclass, jobject value, jint position, jint number) {
  pass_value(jni, {0, value, true, position, number});
}

}  // namespace

const CalloutNatives& callout_natives() { return kNatives; }

jclass define_with_callout_natives(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, classfile::ByteView bytes,
                                   const char*& error) {
#define CALLOUT_NATIVE(method, function) \
  static_assert(takes_descriptor(function, classfile::text_of(classfile::CalloutMethod::method).descriptor));
#define OWN_NATIVE(id, name, descriptor, function) static_assert(takes_descriptor(function, descriptor));
#include "agent/methods/callout_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  const JNINativeMethod methods[] = {
#define CALLOUT_NATIVE(method, function)                                   \
  native_method(classfile::text_of(classfile::CalloutMethod::method).name, \
                classfile::text_of(classfile::CalloutMethod::method).descriptor, function),
#define OWN_NATIVE(id, name, descriptor, function) native_method(name, descriptor, function),
#include "agent/methods/callout_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  };
  return define_boot_class(jvmti, jni, name, bytes, methods, sizeof methods / sizeof methods[0], error);
}

}  // namespace jtrace::agent
