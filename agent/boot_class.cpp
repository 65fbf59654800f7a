#include "agent/boot_class.h"

#include <atomic>

#include "agent/jvm_support.h"

namespace jtrace::agent {
namespace {

// The class whose ClassPrepare event is awaited, and whether its natives have been bound in it. All threads may read
// the name; the rest belongs to the thread that defines the class.
struct Awaited {
  std::atomic<const char*> name{nullptr};
  const JNINativeMethod* natives = nullptr;
  jint count = 0;
  bool bound = false;
};
Awaited g_awaited;

bool threw(JNIEnv* jni) {
  if (!jni->ExceptionCheck()) return false;
  jni->ExceptionClear();
  return true;
}

}  // namespace

jclass boot_class(JNIEnv* jni, const char* name, bool initialized) {
  char dotted[64];
  std::size_t length = 0;
  for (; name[length] != '\0' && length + 1 < sizeof dotted; ++length)
    dotted[length] = name[length] == '/' ? '.' : name[length];
  dotted[length] = '\0';
  jclass class_class = jni->FindClass("java/lang/Class");
  jmethodID for_name = class_class == nullptr
                           ? nullptr
                           : jni->GetStaticMethodID(class_class, "forName",
                                                    "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
  jstring text = jni->NewStringUTF(dotted);
  if (threw(jni) || for_name == nullptr || text == nullptr) return nullptr;
  jobject found = jni->CallStaticObjectMethod(class_class, for_name, text, initialized ? JNI_TRUE : JNI_FALSE,
                                              static_cast<jobject>(nullptr));
  return threw(jni) ? nullptr : static_cast<jclass>(found);
}

jclass define_boot_class(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, classfile::ByteView bytes,
                         const JNINativeMethod* natives, jint count, const char*& error) {
  jclass made =
      jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data()), static_cast<jsize>(bytes.size()));
  error = "the JVM did not take the class that callouts call";
  if (threw(jni) || made == nullptr) return nullptr;
  g_awaited.natives = natives;
  g_awaited.count = count;
  g_awaited.bound = false;
  g_awaited.name.store(name, std::memory_order_release);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
  const bool done = boot_class(jni, name, true) != nullptr;
  g_awaited.name.store(nullptr, std::memory_order_release);
  error = "the JVM did not take the native methods that callouts call";
  if (!done || !g_awaited.bound) return nullptr;
  error = nullptr;
  return made;
}

bool boot_class_prepared(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass) {
  const char* awaited = g_awaited.name.load(std::memory_order_acquire);
  if (awaited == nullptr) return false;
  JvmtiText signature(jvmti);
  if (jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return false;
  if (internal_name(signature.view()) != awaited) return false;
  // From here on this is the thread that defines the class.
  g_awaited.bound = jni->RegisterNatives(klass, g_awaited.natives, g_awaited.count) == 0;
  threw(jni);
  return true;
}

}  // namespace jtrace::agent
