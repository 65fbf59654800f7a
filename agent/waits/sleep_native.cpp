#include "agent/waits/sleep_native.h"

#include <dlfcn.h>

#include <atomic>
#include <limits>

#include "agent/libc_floor.h"

namespace jtrace::agent {
namespace {

using Function = void(JNICALL*)(JNIEnv*, jclass, jlong);

// Set before the function is bound for the first time. The values depend only on the JVM, so every session has the
// same.
std::atomic<const char*> g_method{nullptr};
std::atomic<Function> g_function{nullptr};
std::atomic<jlong> g_unit{1};  // of the argument, in ns
std::atomic<const SleepObserver*> g_observer{nullptr};

constexpr jlong kMilli = 1'000'000;
constexpr jint kJni21 = 0x00150000;  // jni.h of JDK 21

struct Candidate {
  const char* method;
  const char* symbols[2];
};
// Thread.c and jvm.h of JDK 8 to 27. From JDK 19 on `sleep` is not a native method.
constexpr Candidate kCandidates[] = {
    {"sleepNanos0", {"JVM_SleepNanos", "JVM_Sleep"}},
    {"sleep0", {"JVM_Sleep", nullptr}},
    {"sleep", {"JVM_Sleep", nullptr}},
};

// The launcher loads libjvm with RTLD_GLOBAL; a program that embeds the JVM may not.
Function find_symbol(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    if (void* library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD)) found = dlsym(library, name);
  }
  return reinterpret_cast<Function>(found);
}

void JNICALL traced_sleep(JNIEnv* jni, jclass klass, jlong time) {
  const jlong unit = g_unit.load(std::memory_order_relaxed);
  constexpr jlong kMost = std::numeric_limits<jlong>::max();
  const jlong nanos = time > kMost / unit ? kMost : time * unit;
  const SleepObserver* observer = g_observer.load(std::memory_order_acquire);
  const OpenWait wait = observer->begin(jni, nanos);
  g_function.load(std::memory_order_relaxed)(jni, klass, time);
  observer->end(jni, wait);
}

}  // namespace

const char* find_sleep_native(JNIEnv* jni, jclass thread_class) {
  for (const Candidate& each : kCandidates) {
    const jmethodID method = jni->GetStaticMethodID(thread_class, each.method, "(J)V");
    if (jni->ExceptionCheck()) jni->ExceptionClear();
    if (method == nullptr) continue;
    Function function = nullptr;
    for (const char* symbol : each.symbols)
      if (function == nullptr && symbol != nullptr) function = find_symbol(symbol);
    if (function == nullptr) return "Thread.sleep: libjvm does not export its function";
    const bool in_nanos =
        each.method == kCandidates[0].method || (each.method == kCandidates[1].method && jni->GetVersion() >= kJni21);
    g_unit = in_nanos ? 1 : kMilli;
    g_function = function;
    g_method = each.method;
    return nullptr;
  }
  return "Thread.sleep: this JVM has another method for it";
}

bool bind_sleep_native(JNIEnv* jni, jclass thread_class, const SleepObserver* observer) {
  if (observer != nullptr) g_observer.store(observer, std::memory_order_release);
  char descriptor[] = "(J)V";
  const JNINativeMethod method = {const_cast<char*>(g_method.load()), descriptor,  // JNINativeMethod has no const
                                  reinterpret_cast<void*>(observer != nullptr ? &traced_sleep : g_function.load())};
  if (jni->RegisterNatives(thread_class, &method, 1) == 0) return true;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return false;
}

}  // namespace jtrace::agent
