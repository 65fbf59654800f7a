#include "agent/methods/callout_objects.h"

#include "agent/allocation.h"
#include "agent/classfile/class_rewriter.h"
#include "agent/methods/callout_guard.h"
#include "agent/methods/callout_thread.h"

namespace jtrace::agent {
namespace {

constexpr std::uint8_t kArrayOfObjects = 2;  // isArray of trace.dtd

// The frame of the calling thread that allocated the object.
struct Place {
  std::uint64_t thread = 0;
  std::uint64_t stack = 0;
  std::uint64_t site = 0;
};

// `code`: the array kind from the bytecode; kArrayOfObjects for any array that may not be of a primitive type.
TypeOfObject type_of_made(Registry& registry, JNIEnv* jni, jobject object, std::uint8_t code) {
  if (code == kArrayOfObjects) return registry.type_of(jni, jni->GetObjectClass(object));
  TypeOfObject type;
  type.is_array = code;
  if (code == 0) type.class_id = registry.class_id(jni, jni->GetObjectClass(object), 0, true);
  type.known = code != 0 || type.class_id != 0;
  return type;
}

void write_made(const CalloutGuard& guard, JNIEnv* jni, jobject object, std::uint8_t code, const Place& place) {
  Recorder& recorder = guard.recorder();
  LocalFrame frame(jni, 16);
  jlong size = 0;
  recorder.jvmti->GetObjectSize(object, &size);
  record::ObjAllocRecord made{};
  made.thread = place.thread;
  made.size = static_cast<std::uint64_t>(size);
  made.stack = place.stack;
  made.site = place.site;
  write_allocation(guard, object, type_of_made(*recorder.registry, jni, object, code), made);
}

// Reports the inner arrays that one multianewarray has made.
void write_elements(const CalloutGuard& guard, JNIEnv* jni, jobject object, std::uint32_t dimensions,
                    const Place& place) {
  if (dimensions < 2) return;
  auto* array = static_cast<jobjectArray>(object);
  const jsize count = jni->GetArrayLength(array);
  for (jsize i = 0; i < count; ++i) {
    jobject element = jni->GetObjectArrayElement(array, i);
    if (element == nullptr) continue;
    write_made(guard, jni, element, kArrayOfObjects, place);
    write_elements(guard, jni, element, dimensions - 1, place);
    jni->DeleteLocalRef(element);
  }
}

bool traces_allocations(const CalloutGuard& guard) {
  return guard && guard.recorder().traces(record::kAllocationEvent);
}

// False if nothing is to be written for the calling thread.
bool find_thread(const CalloutGuard& guard, JNIEnv* jni, Place& place) {
  place.thread = current_thread(guard.recorder(), jni);
  return chunk_for(guard, jni, 0, place.thread) != nullptr;
}

// An object whose constructor is traced is first seen in that constructor. The frames up to the one with the `new`
// belong to its constructors.
void write_constructed(const CalloutGuard& guard, JNIEnv* jni, jobject object) {
  constexpr jint kFramesOfCallout = 2;
  Recorder& recorder = guard.recorder();
  Place place;
  if (recorder.registry->is_known(object) || !find_thread(guard, jni, place)) return;
  const auto depth = static_cast<jint>(recorder.config.stack_depth);
  if (depth > 0) {
    const CurrentThread thread(recorder.jvmti, jni);
    place.stack = depth == 1 ? recorder.registry->constructors_id(jni, thread.get(), kFramesOfCallout)
                             : recorder.registry->stack_id(jni, thread.get(), kFramesOfCallout, depth);
  }
  write_made(guard, jni, object, 0, place);
}

}  // namespace

jlong identify_object(JNIEnv* jni, jobject object, jint is_new) {
  CalloutGuard guard;
  if (!guard || object == nullptr) return 0;
  if (is_new != 0 && traces_allocations(guard)) write_constructed(guard, jni, object);
  return static_cast<jlong>(guard.recorder().registry->object_id(jni, object));
}

// If the constructor's entry was written early, because one of its callees was slow, its receiver is written in a
// record of its own.
void object_received(JNIEnv* jni, jobject object, jint number, jint is_new, jlong thread) {
  CalloutGuard guard;
  if (!guard || object == nullptr) return;
  Recorder& recorder = guard.recorder();
  if (is_new != 0 && traces_allocations(guard)) write_constructed(guard, jni, object);
  OpenCalls::Stack* stack = guard.area().open_calls().find(static_cast<std::uint64_t>(thread));
  if (stack == nullptr || stack->depth > OpenCalls::kFrames) return;
  const std::uint64_t at = stack->find(static_cast<std::uint32_t>(number));
  if (at == 0) return;  // it began before the trace
  OpenCalls::Frame& frame = stack->frames[at - 1];
  __atomic_store_n(&frame.object, recorder.registry->object_id(jni, object), __ATOMIC_RELAXED);
  if (!frame.is_written() || frame.object == 0 ||
      chunk_for(guard, jni, 0, static_cast<std::uint64_t>(thread)) == nullptr)
    return;
  record::ReceiverRecord made{};
  made.header.number = static_cast<std::uint32_t>(number);
  made.object = frame.object;
  guard.write(made, record::RecordKind::kReceiver);
}

void object_made(JNIEnv* jni, jobject object, jint site, jint number) {
  constexpr jint kFramesOfCallout = 1;
  CalloutGuard guard;
  Place place;
  if (!traces_allocations(guard) || object == nullptr || !find_thread(guard, jni, place)) return;
  const auto made = classfile::Site::of(static_cast<std::uint32_t>(site));
  const auto depth = static_cast<jint>(guard.recorder().config.stack_depth);
  if (depth == 1) place.site = record::allocation_site(static_cast<std::uint32_t>(number), made.line);
  if (depth > 1) {
    const CurrentThread thread(guard.recorder().jvmti, jni);
    place.stack = guard.recorder().registry->stack_id(jni, thread.get(), kFramesOfCallout, depth);
  }
  write_made(guard, jni, object, made.code, place);
  write_elements(guard, jni, object, made.dimensions, place);
}

}  // namespace jtrace::agent
