#include "agent/jvmpi/bridge.h"

#include "agent/jvmpi/callbacks.h"
#include "agent/jvmpi/class_events.h"
#include "agent/jvmpi/gc_events.h"
#include "agent/jvmpi/jni_references.h"
#include "agent/jvmpi/method_events.h"

namespace jtrace::agent::jvmpi {

std::atomic<Bridge*>& Bridge::current() {
  static std::atomic<Bridge*> bridge{nullptr};
  return bridge;
}

Bridge::Bridge(JavaVM* java_vm, jvmtiEnv* env) : vm(java_vm), jvmti(env), ids(env) {
  pthread_mutex_init(&lock_, nullptr);
  looks.start(env);
}

Bridge::~Bridge() = default;

Bridge* Bridge::make(JavaVM* vm, const char*& error) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) {
    error = "this JVM has no JVM TI 1.2";
    return nullptr;
  }
  std::unique_ptr<Bridge> bridge(new Bridge(vm, static_cast<jvmtiEnv*>(env)));
  Bridge* none = nullptr;
  if (!current().compare_exchange_strong(none, bridge.get())) {
    bridge->jvmti->DisposeEnvironment();
    error = "a JVMPI profiler is loaded already, and JVMPI allows one in a JVM";
    return nullptr;
  }
  Bridge* const kept = bridge.release();  // for good: see abandon()
  error = kept->prepare();
  if (error == nullptr) return kept;
  kept->abandon();
  return nullptr;
}

// The profiler may have started threads and installed handlers, so nothing is freed. Its events end, and another
// profiler may be tried.
void Bridge::abandon() {
  over_ = true;
  jvmti->DisposeEnvironment();
  if (hook_jvmti != nullptr) hook_jvmti->DisposeEnvironment();
  current().store(nullptr, std::memory_order_release);
}

const char* Bridge::prepare() {
  jvmtiCapabilities needed{};
  needed.can_tag_objects = 1;
  if (!take(needed)) return "the JVM grants no object tags (can_tag_objects)";
  jvmtiCapabilities potential{};
  jvmti->GetPotentialCapabilities(&potential);
  jvmtiCapabilities useful{};
  useful.can_get_line_numbers = potential.can_get_line_numbers;
  useful.can_get_source_file_name = potential.can_get_source_file_name;
  useful.can_get_monitor_info = potential.can_get_monitor_info;
  useful.can_get_owned_monitor_info = potential.can_get_owned_monitor_info;
  useful.can_get_current_contended_monitor = potential.can_get_current_contended_monitor;
  useful.can_get_thread_cpu_time = potential.can_get_thread_cpu_time;
  jvmti->AddCapabilities(&useful);
  gc = std::make_unique<GcEvents>(*this);
  methods = std::make_unique<MethodEvents>(*this);
  set_callbacks();
  for (const jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH})
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  return nullptr;
}

void Bridge::set_callbacks() {
  EventCallbacks callbacks;
  install_callbacks(callbacks);
  callbacks.give_to(jvmti);
}

bool Bridge::take(const jvmtiCapabilities& wanted) { return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE; }

jthread Bridge::new_thread(JNIEnv* jni, const char* name) {
  jclass thread = jni->FindClass("java/lang/Thread");
  jmethodID constructor = thread == nullptr ? nullptr : jni->GetMethodID(thread, "<init>", "(Ljava/lang/String;)V");
  jstring text = constructor == nullptr ? nullptr : jni->NewStringUTF(name);
  jobject made = text == nullptr ? nullptr : jni->NewObject(thread, constructor, text);
  if (!jni->ExceptionCheck()) return made;
  jni->ExceptionClear();
  return nullptr;
}

void Bridge::go_live(JNIEnv* jni, jthread current_thread) {
  {
    LocalFrame frame(jni, 32);
    if (!threads.learn(jni, current_thread)) {
      over_ = true;
      return;
    }
    class_class = new_global(jni, jni->FindClass("java/lang/Class"));
    if (jthread own = new_thread(jni, "jtrace jvmpi")) own_thread = new_global(jni, own);
    for (const jvmtiEvent event : {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END})
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  gc->find_counters();
  live_.store(true, std::memory_order_release);
  jint count = 0;
  JvmtiMemory<jthread> all(jvmti);
  if (jvmti->GetAllThreads(&count, all.out()) != JVMTI_ERROR_NONE) count = 0;
  accept_references(jni, count);
  for (jint i = 0; i < count; ++i) {
    if (JNIEnv* env = threads.env_of(jni, all[i])) thread_started(jni, env, all[i]);
    jni->DeleteLocalRef(all[i]);
  }
  has_all_threads_.store(true, std::memory_order_release);
  methods->define_helper(jni);  // without the helper there are no METHOD events, and EnableEvent reports that
  if (wants(JVMPI_EVENT_CLASS_LOAD)) report_loaded_classes(*this, jni);
  for (jint event = 0; event <= JVMPI_MAX_EVENT_TYPE_VAL; ++event)
    if (wants(event)) install_for(event, jni);
  if (wants(JVMPI_EVENT_JVM_INIT_DONE)) {
    JVMPI_Event event = event_of(JVMPI_EVENT_JVM_INIT_DONE, jni);
    notify(event);
  }
}

void Bridge::shut_down(JNIEnv* jni) {
  if (gc != nullptr) gc->deliver_rest();
  if (wants(JVMPI_EVENT_JVM_SHUT_DOWN)) {
    JVMPI_Event event = event_of(JVMPI_EVENT_JVM_SHUT_DOWN, jni);
    notify(event);
  }
  over_ = true;
}

jobjectID Bridge::defined_object(JNIEnv* jni, jobject object) {
  if (object == nullptr) return nullptr;
  jlong before = 0;
  const bool reports = wants(JVMPI_EVENT_OBJECT_ALLOC);
  jlong tag = 0;
  jvmti->GetTag(object, &tag);
  if (tag == 0 || (reports && (tag & (kReported | kIsClass)) == 0)) {
    LocalFrame frame(jni, 8);
    jclass klass = jni->GetObjectClass(object);
    if (jni->IsSameObject(klass, class_class)) return defined_class(jni, static_cast<jclass>(object));
    tag = ids.tag(object, reports ? kReported : 0, &before);
    if (reports && (before & kReported) == 0) {
      jlong size = 0;
      jvmti->GetObjectSize(object, &size);
      send_object_alloc(jni, klass, size, tag, 0);
    }
  }
  return id_of_tag(tag);
}

jobjectID Bridge::defined_class(JNIEnv* jni, jclass klass) {
  const jlong tag = ids.tag(klass, kIsClass);
  if (tag == 0 || (tag & kReported) != 0 || !wants(JVMPI_EVENT_CLASS_LOAD)) return id_of_tag(tag);
  // The JVM gives no methods and fields of a class that is not linked. Its CLASS_LOAD is sent at its ClassPrepare.
  jint status = 0;
  jvmti->GetClassStatus(klass, &status);
  constexpr jint kComplete = JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY | JVMTI_CLASS_STATUS_PRIMITIVE;
  jlong before = 0;
  if ((status & kComplete) == 0 || ids.tag(klass, kReported, &before) == 0) return id_of_tag(tag);
  if ((before & kReported) == 0) send_class_load(*this, jni, klass, id_of_tag(tag), 0);
  return id_of_tag(tag);
}

ThreadRecord* Bridge::defined_thread(JNIEnv* jni, JNIEnv* env, jthread thread) {
  if (env == nullptr || thread == nullptr) return nullptr;
  ThreadRecord* record = threads.find(env);
  if (record == nullptr)
    return has_all_threads_.load(std::memory_order_acquire) ? nullptr : thread_started(jni, env, thread);
  report_start(jni, *record);
  return record;
}

ThreadRecord* Bridge::current_thread(JNIEnv* jni) {
  ThreadRecord* record = threads.find(jni);
  if (record != nullptr) return record;
  const CurrentThread thread(jvmti, jni);
  if (thread.get() == nullptr || threads.env_of(jni, thread.get()) != jni) return nullptr;
  return defined_thread(jni, jni, thread.get());
}

ThreadRecord* Bridge::thread_started(JNIEnv* jni, JNIEnv* env, jthread thread) {
  if (env == nullptr || thread == nullptr) return nullptr;
  ThreadRecord* record = threads.find(env);
  if (record == nullptr) {
    if (own_thread != nullptr && jni->IsSameObject(thread, own_thread)) return nullptr;
    record = threads.add(jni, env, thread);
  }
  report_start(jni, *record);
  return record;
}

void Bridge::report_start(JNIEnv* jni, ThreadRecord& record) {
  if (!record.reported.load(std::memory_order_relaxed) && wants(JVMPI_EVENT_THREAD_START) &&
      !record.reported.exchange(true))
    send_thread_start(jni, record, 0);
}

void Bridge::send_thread_start(JNIEnv* jni, ThreadRecord& record, jint flags) {
  LocalFrame frame(jni, 16);
  // The profiler gets the event below: the thread must be free to end meanwhile.
  jthread thread = jni->NewLocalRef(ThreadUse(threads, record.env).thread());
  jvmtiThreadInfo info{};
  if (thread == nullptr || jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return;
  JvmtiText name(jvmti), group(jvmti), parent(jvmti);
  *name.out() = info.name;
  jvmtiThreadGroupInfo group_info{};
  if (info.thread_group != nullptr && jvmti->GetThreadGroupInfo(info.thread_group, &group_info) == JVMTI_ERROR_NONE) {
    *group.out() = group_info.name;
    jvmtiThreadGroupInfo parent_info{};
    if (group_info.parent != nullptr && jvmti->GetThreadGroupInfo(group_info.parent, &parent_info) == JVMTI_ERROR_NONE)
      *parent.out() = parent_info.name;
  }
  JVMPI_Event event = event_of(JVMPI_EVENT_THREAD_START | flags, jni);
  event.u.thread_start.thread_name = name.get();
  event.u.thread_start.group_name = group.get();
  event.u.thread_start.parent_name = parent.get();
  event.u.thread_start.thread_id = defined_object(jni, thread);
  event.u.thread_start.thread_env_id = record.env;
  notify(event);
}

void Bridge::object_allocated(JNIEnv* jni, jobject object, jclass klass, jlong size) {
  // The CLASS_LOAD of a class is still to be sent.
  const jlong flags = jni->IsSameObject(klass, class_class) ? kIsClass : kReported;
  jlong before = 0;
  const jlong tag = ids.tag(object, flags, &before);
  if ((before & flags) == 0) send_object_alloc(jni, klass, size, tag, 0);  // otherwise it was sent before
}

void Bridge::send_object_alloc(JNIEnv* jni, jclass klass, jlong size, jlong tag, jint flags) {
  if (tag == 0) return;
  const KindOfClass kind = kind_of_class(*this, jni, klass);
  JVMPI_Event event = event_of(JVMPI_EVENT_OBJECT_ALLOC | flags, jni);
  event.u.obj_alloc.arena_id = 1;
  // The class of java.lang.Class is itself. A profiler that asks for the class of each class (hprof does) would never
  // stop.
  event.u.obj_alloc.class_id = kind.class_id == id_of_tag(tag) ? nullptr : kind.class_id;
  event.u.obj_alloc.is_array = kind.is_array;
  event.u.obj_alloc.size = static_cast<jint>(size);
  event.u.obj_alloc.obj_id = id_of_tag(tag);
  notify(event);
}

jint Bridge::request(jint event, void* argument) {
  JNIEnv* jni = current_env();
  if (jni == nullptr || !is_live()) return JVMPI_FAIL;
  LocalFrame frame(jni, 16);
  switch (event) {
    case JVMPI_EVENT_CLASS_LOAD: {
      auto klass = static_cast<jclass>(ids.object_of(static_cast<jobjectID>(argument)));
      if (klass == nullptr || !jni->IsInstanceOf(klass, class_class)) return JVMPI_FAIL;
      const jlong tag = ids.tag(klass, kIsClass | kReported);
      return send_class_load(*this, jni, klass, id_of_tag(tag), JVMPI_REQUESTED_EVENT) ? JVMPI_SUCCESS : JVMPI_FAIL;
    }
    case JVMPI_EVENT_THREAD_START: {
      jobject thread = ids.object_of(static_cast<jobjectID>(argument));
      if (thread == nullptr || !jni->IsInstanceOf(thread, jni->FindClass("java/lang/Thread"))) return JVMPI_FAIL;
      JNIEnv* env = threads.env_of(jni, thread);
      ThreadRecord* record = env == nullptr ? nullptr : threads.find(env);
      if (record == nullptr) return JVMPI_FAIL;
      send_thread_start(jni, *record, JVMPI_REQUESTED_EVENT);
      return JVMPI_SUCCESS;
    }
    case JVMPI_EVENT_OBJECT_ALLOC: {
      jobject object = ids.object_of(static_cast<jobjectID>(argument));
      jlong size = 0;
      if (object == nullptr || jvmti->GetObjectSize(object, &size) != JVMTI_ERROR_NONE) return JVMPI_FAIL;
      const jlong tag = ids.tag(object, jni->IsInstanceOf(object, class_class) ? kIsClass : kReported);
      send_object_alloc(jni, jni->GetObjectClass(object), size, tag, JVMPI_REQUESTED_EVENT);
      return JVMPI_SUCCESS;
    }
    case JVMPI_EVENT_HEAP_DUMP:
    case JVMPI_EVENT_OBJECT_DUMP:
    case JVMPI_EVENT_MONITOR_DUMP: return request_dump(event, argument, jni);
    default: return JVMPI_NOT_AVAILABLE;
  }
}

}  // namespace jtrace::agent::jvmpi
