// Bridge: one JVMPI profiler in this JVM, served by JVM TI. docs/jvmpi.md has the mapping.
//
// There is at most one (JVMPI allows no more), and it stays: a profiler cannot be unloaded. The bridge has a JVM TI
// environment of its own. A second one carries the CLASS_LOAD_HOOK, so that a class keeps the profiler's changes when
// it is retransformed for its callouts.
#pragma once

#include <jvmti.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "agent/jvm_support.h"
#include "agent/jvmpi/jvmpi.h"
#include "agent/jvmpi/loader_hierarchy.h"
#include "agent/jvmpi/object_ids.h"
#include "agent/jvmpi/threads.h"
#include "agent/stack_looks.h"

namespace jtrace::agent::jvmpi {

class GcEvents;
class MethodEvents;

// An event with an empty union.
inline JVMPI_Event event_of(jint type, JNIEnv* env) {
  JVMPI_Event event;
  std::memset(&event, 0, sizeof event);
  event.event_type = type;
  event.env_id = env;
  return event;
}

class Bridge {
 public:
  ~Bridge();
  // Null: there is none.
  static Bridge* get() { return current().load(std::memory_order_acquire); }
  // The same, if it may send events: after go_live().
  static Bridge* get_live() {
    Bridge* bridge = get();
    return bridge != nullptr && bridge->is_live() ? bridge : nullptr;
  }
  // Makes the bridge of this JVM. Null, with `error` set (static text).
  static Bridge* make(JavaVM* vm, const char*& error);
  // Undoes make(), if the profiler could not be started.
  void abandon();

  // Starts the events: at VMInit, or after JVM_OnLoad if the JVM runs already. Sends the defining events of everything
  // that exists, and JVM_INIT_DONE.
  void go_live(JNIEnv* jni, jthread current);
  bool is_live() const { return live_.load(std::memory_order_acquire); }
  // Sends JVM_SHUT_DOWN; no event follows.
  void shut_down(JNIEnv* jni);

  bool wants(jint event) const { return (enabled_.load(std::memory_order_relaxed) >> event & 1) != 0; }
  bool wants_any(std::uint64_t events) const { return (enabled_.load(std::memory_order_relaxed) & events) != 0; }
  jint enable(jint event);
  jint disable(jint event);
  jint request(jint event, void* argument);
  void notify(JVMPI_Event& event) const {
    if (!over_.load(std::memory_order_relaxed)) interface.NotifyEvent(&event);
  }

  // The id of an object that is about to appear in an event; sends its OBJECT_ALLOC first if that is enabled.
  jobjectID defined_object(JNIEnv* jni, jobject object);
  // The same for a class, with CLASS_LOAD.
  jobjectID defined_class(JNIEnv* jni, jclass klass);
  // The thread of `env`; sends its THREAD_START first if it was not sent yet. Null for threads that are not reported:
  // the bridge's own, and those between JVM TI's ThreadEnd and ThreadStart. In that time the JVM still enters a monitor
  // for threads that join, and attaches native threads, whose Thread has no name yet.
  ThreadRecord* defined_thread(JNIEnv* jni, JNIEnv* env, jthread thread);
  // The same for the calling thread. A virtual thread appears as its carrier, which is reported when it starts.
  ThreadRecord* current_thread(JNIEnv* jni);
  // The same for a thread that starts, or runs already.
  ThreadRecord* thread_started(JNIEnv* jni, JNIEnv* env, jthread thread);
  // The id of a new object, with its OBJECT_ALLOC.
  void object_allocated(JNIEnv* jni, jobject object, jclass klass, jlong size);

  // JNI's original functions: while JNI_GLOBALREF events are on, calls through these make no events.
  template <class Reference>
  Reference new_global(JNIEnv* jni, Reference object) const {
    return static_cast<Reference>(own_functions(jni)->NewGlobalRef(jni, object));
  }
  void delete_global(JNIEnv* jni, jobject object) const { own_functions(jni)->DeleteGlobalRef(jni, object); }
  // The JNIEnv of the calling thread; null if it is not a Java thread.
  JNIEnv* current_env() const {
    void* env = nullptr;
    return vm->GetEnv(&env, JNI_VERSION_1_2) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
  }
  // A java.lang.Thread of the bridge or of the profiler, not started; local reference. Null: out of memory.
  static jthread new_thread(JNIEnv* jni, const char* name);
  // Whether the JVM has all of these capabilities, or gives them now.
  bool take(const jvmtiCapabilities& wanted);

  JavaVM* const vm;
  jvmtiEnv* const jvmti;
  jvmtiEnv* hook_jvmti = nullptr;
  JVMPI_Interface interface {};
  ObjectIds ids;
  Threads threads;
  StackLooks looks;
  std::unique_ptr<GcEvents> gc;
  std::unique_ptr<MethodEvents> methods;
  LoaderMethods loader_methods;                                    // learned for CLASS_LOAD_HOOK
  jclass class_class = nullptr;                                    // java.lang.Class; global reference
  jthread own_thread = nullptr;                                    // global reference; never reported to the profiler
  std::atomic<const JNINativeInterface_*> jni_functions{nullptr};  // the original ones, while they are replaced
  std::atomic<jint> gc_disabled{0};

 private:
  Bridge(JavaVM* java_vm, jvmtiEnv* env);
  static std::atomic<Bridge*>& current();
  const char* prepare();
  void set_callbacks();
  void switch_events(std::uint64_t before, std::uint64_t now);
  bool install_for(jint event, JNIEnv* jni);
  bool sample_every_object();
  bool open_hook();
  void prepare_hook(JNIEnv* jni);
  jint request_dump(jint event, void* argument, JNIEnv* jni);
  void report_start(JNIEnv* jni, ThreadRecord& record);  // once
  void send_thread_start(JNIEnv* jni, ThreadRecord& record, jint flags);
  void send_object_alloc(JNIEnv* jni, jclass klass, jlong size, jlong tag, jint flags);
  const JNINativeInterface_* own_functions(JNIEnv* jni) const {
    const JNINativeInterface_* replaced = jni_functions.load(std::memory_order_acquire);
    return replaced != nullptr ? replaced : jni->functions;
  }

  pthread_mutex_t lock_;                   // over enable and disable
  std::atomic<std::uint64_t> enabled_{0};  // bit by event
  std::atomic<bool> live_{false};
  std::atomic<bool> has_all_threads_{false};  // those that ran when it went live
  std::atomic<bool> over_{false};
};

inline constexpr std::uint64_t bit_of(jint event) { return std::uint64_t{1} << event; }
inline constexpr std::uint64_t kMethodEvents =
    bit_of(JVMPI_EVENT_METHOD_ENTRY) | bit_of(JVMPI_EVENT_METHOD_ENTRY2) | bit_of(JVMPI_EVENT_METHOD_EXIT);
inline constexpr std::uint64_t kFreeEvents = bit_of(JVMPI_EVENT_OBJECT_FREE) | bit_of(JVMPI_EVENT_OBJECT_MOVE);
inline constexpr std::uint64_t kGlobalRefEvents =
    bit_of(JVMPI_EVENT_JNI_GLOBALREF_ALLOC) | bit_of(JVMPI_EVENT_JNI_GLOBALREF_FREE) |
    bit_of(JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC) | bit_of(JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE);

}  // namespace jtrace::agent::jvmpi
