#include "agent/methods/probe_class.h"

#include <atomic>

#include "agent/jvm_support.h"
#include "agent/methods/probes.h"

namespace jtrace::agent {
namespace {

bool threw(JNIEnv* jni) {
  if (!jni->ExceptionCheck()) return false;
  jni->ExceptionClear();
  return true;
}

// The class whose ClassPrepare event is awaited, and whether its natives have been bound in it.
std::atomic<const char*> g_awaited{nullptr};
std::atomic<bool> g_bound{false};

// From JDK 16 on, RegisterNatives on a class of java.base prints a warning on the program's own stdout unless its
// caller is a class of the boot loader. So Class.forName links and initializes the class, and the ClassPrepare event
// that it causes binds the natives.
bool bind_natives(jvmtiEnv* jvmti, JNIEnv* jni, std::string_view name) {
  char dotted[64];
  if (name.size() >= sizeof dotted) return false;
  for (std::size_t i = 0; i <= name.size(); ++i) dotted[i] = i == name.size() ? '\0' : name[i] == '/' ? '.' : name[i];
  jclass class_class = jni->FindClass("java/lang/Class");
  jmethodID for_name = class_class == nullptr
                           ? nullptr
                           : jni->GetStaticMethodID(class_class, "forName",
                                                    "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
  jstring text = jni->NewStringUTF(dotted);
  if (threw(jni) || for_name == nullptr || text == nullptr) return false;
  g_bound = false;
  g_awaited.store(name.data(), std::memory_order_release);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
  jni->CallStaticObjectMethod(class_class, for_name, text, JNI_TRUE, static_cast<jobject>(nullptr));
  g_awaited.store(nullptr, std::memory_order_release);
  return !threw(jni) && g_bound;
}

}  // namespace

const char* find_probe_facts(JNIEnv* jni, ProbeClassFacts& facts) {
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
  if (threw(jni) || offset_of == nullptr || field == nullptr) return "Unsafe does not tell the offset of Thread.tid";
  facts.thread_id_offset = static_cast<std::uint64_t>(jni->CallLongMethod(unsafe, offset_of, field));
  return threw(jni) ? "Unsafe does not tell the offset of Thread.tid" : nullptr;
}

const char* define_probe_class(jvmtiEnv* jvmti, JNIEnv* jni, ProbeStyle style, const ProbeClassFacts& facts,
                               ProbeArea*& area) {
  LocalFrame frame(jni, 8);
  const std::string_view name = probe_class_name(style);
  jclass made = jni->FindClass(name.data());
  if (threw(jni) || made == nullptr) {
    const classfile::Bytes bytes = make_probe_class(style, facts, *area);
    made = jni->DefineClass(name.data(), nullptr, reinterpret_cast<const jbyte*>(bytes.data()),
                            static_cast<jsize>(bytes.size()));
    if (threw(jni) || made == nullptr) return "the JVM did not take the class that probes call";
    if (!bind_natives(jvmti, jni, name)) return "the JVM did not take the native methods that probes call";
  }
  jfieldID field = jni->GetStaticFieldID(made, kAreaField, "J");
  if (threw(jni) || field == nullptr) return "the class that probes call could not be initialized";
  area = ProbeArea::adopt(static_cast<std::uint64_t>(jni->GetStaticLongField(made, field)));
  if (area == nullptr) return "an agent of another version has left its probes in this JVM";
  area->natives().store(&probe_natives(), std::memory_order_release);
  return nullptr;
}

void probe_class_prepared(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass) {
  const char* awaited = g_awaited.load(std::memory_order_acquire);
  if (awaited == nullptr) return;
  JvmtiText signature(jvmti);
  if (jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::string_view text = signature.view();
  if (text.size() < 2 || text.substr(1, text.size() - 2) != awaited) return;
  g_bound.store(register_probe_natives(jni, klass), std::memory_order_release);
  threw(jni);
}

}  // namespace jtrace::agent
