#include "agent/methods/callout_class.h"

#include "agent/jvm_support.h"
#include "agent/methods/callouts.h"

namespace jtrace::agent {
namespace {

bool threw(JNIEnv* jni) {
  if (!jni->ExceptionCheck()) return false;
  jni->ExceptionClear();
  return true;
}

}  // namespace

const char* find_callout_facts(JNIEnv* jni, CalloutClassFacts& facts) {
  LocalFrame frame(jni, 16);
  jclass unsafe_class = jni->FindClass("jdk/internal/misc/Unsafe");
  facts.internal_unsafe = !threw(jni) && unsafe_class != nullptr;
  if (!facts.internal_unsafe) unsafe_class = jni->FindClass("sun/misc/Unsafe");
  if (threw(jni) || unsafe_class == nullptr) return "this JVM has no class Unsafe";
  jclass thread = jni->FindClass("java/lang/Thread");
  jfieldID tid = thread == nullptr ? nullptr : jni->GetFieldID(thread, "tid", "J");
  if (threw(jni) || tid == nullptr) return "java.lang.Thread has no field tid in this JVM";
  facts.virtual_threads = jni->GetStaticMethodID(thread, "currentCarrierThread", "()Ljava/lang/Thread;") != nullptr;
  threw(jni);
  jfieldID instance = jni->GetStaticFieldID(unsafe_class, "theUnsafe",
                                            facts.internal_unsafe ? "Ljdk/internal/misc/Unsafe;" : "Lsun/misc/Unsafe;");
  if (threw(jni) || instance == nullptr) return "Unsafe has no instance in this JVM";
  jobject unsafe = jni->GetStaticObjectField(unsafe_class, instance);
  jmethodID offset_of = jni->GetMethodID(unsafe_class, "objectFieldOffset", "(Ljava/lang/reflect/Field;)J");
  jobject field = jni->ToReflectedField(thread, tid, JNI_FALSE);
  if (threw(jni) || offset_of == nullptr || field == nullptr) return "Unsafe does not give the offset of Thread.tid";
  facts.thread_id_offset = static_cast<std::uint64_t>(jni->CallLongMethod(unsafe, offset_of, field));
  return threw(jni) ? "Unsafe does not give the offset of Thread.tid" : nullptr;
}

const char* define_callout_class(jvmtiEnv* jvmti, JNIEnv* jni, CalloutStyle style, const CalloutClassFacts& facts,
                                 CalloutArea*& area) {
  LocalFrame frame(jni, 8);
  const std::string_view name = callout_class_name(style);
  jclass made = jni->FindClass(name.data());
  if (threw(jni) || made == nullptr) {
    const char* error = nullptr;
    made = define_with_callout_natives(jvmti, jni, name.data(), make_callout_class(style, facts, *area), error);
    if (made == nullptr) return error;
  }
  jfieldID field = jni->GetStaticFieldID(made, kAreaField, "J");
  if (threw(jni) || field == nullptr) return "the class that callouts call could not be initialized";
  area = CalloutArea::adopt(static_cast<std::uint64_t>(jni->GetStaticLongField(made, field)));
  if (area == nullptr) return "an agent of another version has left its callouts in this JVM";
  area->natives().store(&callout_natives(), std::memory_order_release);
  return nullptr;
}

}  // namespace jtrace::agent
