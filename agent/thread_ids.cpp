#include "agent/thread_ids.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/boot_class.h"
#include "agent/jvm_support.h"
#include "trace/vm_threads.h"

namespace jtrace::agent {
namespace {

constexpr useconds_t kSecondLookUs = 2000;

// The kernel's name of the calling thread (prctl(2), PR_GET_NAME: 16 bytes with the NUL); returns its length.
std::size_t thread_comm(char* name, std::size_t size) {
  if (size < 16 || prctl(PR_GET_NAME, name, 0, 0, 0) != 0) return 0;
  return std::strlen(name);
}

// Needs no safepoint and no handshake: ten thousand threads take a few milliseconds.
record::ThreadWas state_of(jvmtiEnv* jvmti, jthread thread) {
  using record::ThreadWas;
  jint state = 0;
  if (jvmti->GetThreadState(thread, &state) != JVMTI_ERROR_NONE || (state & JVMTI_THREAD_STATE_ALIVE) == 0)
    return ThreadWas::kUnknown;
  if ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0) return ThreadWas::kSuspended;
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return ThreadWas::kBlocked;
  if ((state & JVMTI_THREAD_STATE_SLEEPING) != 0) return ThreadWas::kSleeping;
  if ((state & JVMTI_THREAD_STATE_PARKED) != 0) return ThreadWas::kParked;
  if ((state & JVMTI_THREAD_STATE_WAITING) != 0) return ThreadWas::kWaiting;
  return (state & JVMTI_THREAD_STATE_IN_NATIVE) != 0 ? ThreadWas::kNative : ThreadWas::kRunnable;
}

}  // namespace

const char* ThreadIds::start(JNIEnv* jni, jvmtiEnv* jvmti) {
  jvmti_ = jvmti;
  LocalFrame frame(jni, 8);
  jclass thread = jni->FindClass("java/lang/Thread");
  tid_ = thread == nullptr ? nullptr : jni->GetFieldID(thread, "tid", "J");
  if (tid_ == nullptr) {
    jni->ExceptionClear();
    return "java.lang.Thread has no field tid in this JVM";
  }
  class_ = static_cast<jclass>(jni->NewGlobalRef(thread));
  find_virtual(jni);
  name_ = jni->GetFieldID(thread, "name", "Ljava/lang/String;");
  if (name_ == nullptr) jni->ExceptionClear();
  return make_own(jni);
}

// JDK 21 and later (java/lang/BaseVirtualThread.java, VirtualThread.java); earlier JDKs have no virtual threads.
void ThreadIds::find_virtual(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  if (jclass base = boot_class(jni, "java/lang/BaseVirtualThread", false))
    virtual_class_ = static_cast<jclass>(jni->NewGlobalRef(base));
  if (jclass mounted = boot_class(jni, "java/lang/VirtualThread", false))
    mounted_class_ = static_cast<jclass>(jni->NewGlobalRef(mounted));
}

bool ThreadIds::had_virtual() const {
  if (virtual_class_ == nullptr) return false;
  if (had_virtual_.load(std::memory_order_relaxed)) return true;
  jint status = 0;
  const bool is_known =
      mounted_class_ != nullptr && jvmti_->GetClassStatus(mounted_class_, &status) == JVMTI_ERROR_NONE;
  if (is_known && (status & JVMTI_CLASS_STATUS_INITIALIZED) == 0) return false;
  had_virtual_.store(true, std::memory_order_relaxed);
  return true;
}

void ThreadIds::release(JNIEnv* jni) {
  jni->DeleteGlobalRef(class_);
  if (virtual_class_ != nullptr) jni->DeleteGlobalRef(virtual_class_);
  if (mounted_class_ != nullptr) jni->DeleteGlobalRef(mounted_class_);
}

void ThreadIds::release_own(JNIEnv* jni) {
  jni->DeleteGlobalRef(own_);
  own_ = nullptr;
}

const char* ThreadIds::make_own(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  jmethodID constructor = jni->GetMethodID(class_, "<init>", "(Ljava/lang/String;)V");
  jstring name = jni->NewStringUTF("jtrace agent");
  jobject thread = constructor == nullptr || name == nullptr ? nullptr : jni->NewObject(class_, constructor, name);
  if (jni->ExceptionCheck() || thread == nullptr) {
    jni->ExceptionClear();
    return "the agent's thread could not be made";
  }
  own_id_ = id_of(jni, thread);
  own_ = jni->NewGlobalRef(thread);
  return own_ == nullptr ? "the agent's thread could not be made" : nullptr;
}

bool ThreadIds::define(JNIEnv* jni, jthread thread, std::uint64_t id, Reason reason) {
  const bool ran_before = reason == kIsThere;
  const bool virtual_one = is_virtual(jni, thread);
  JvmtiText name(jvmti_);
  JvmtiText group(jvmti_);
  JvmtiText parent(jvmti_);
  jvmtiThreadInfo info{};
  if (jvmti_->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return false;
  *name.out() = info.name;
  jvmtiThreadGroupInfo group_info{};
  if (info.thread_group != nullptr && jvmti_->GetThreadGroupInfo(info.thread_group, &group_info) == JVMTI_ERROR_NONE) {
    *group.out() = group_info.name;
    jvmtiThreadGroupInfo parent_info{};
    if (group_info.parent != nullptr &&
        jvmti_->GetThreadGroupInfo(group_info.parent, &parent_info) == JVMTI_ERROR_NONE) {
      *parent.out() = parent_info.name;
      if (parent_info.parent != nullptr) jni->DeleteLocalRef(parent_info.parent);
    }
    if (group_info.parent != nullptr) jni->DeleteLocalRef(group_info.parent);
  }
  if (info.thread_group != nullptr) jni->DeleteLocalRef(info.thread_group);
  if (info.context_class_loader != nullptr) jni->DeleteLocalRef(info.context_class_loader);

  // The kernel's id is known only for the calling thread, and a virtual thread has none.
  const bool has_tid = !ran_before && !virtual_one;
  const auto tid = has_tid ? static_cast<std::uint64_t>(syscall(SYS_gettid)) : 0;
  const auto was = ran_before ? state_of(jvmti_, thread) : record::ThreadWas::kUnknown;
  const std::uint8_t flags = record::thread_flags((ran_before ? unsigned{record::kThreadRanBefore} : 0u) |
                                                      (virtual_one ? unsigned{record::kThreadVirtual} : 0u) |
                                                      (reason == kBegins ? unsigned{record::kThreadBegan} : 0u),
                                                  was);
  Definition definition(
      id, record::ThreadFields{
              .tid = tid, .flags = flags, .name = name.view(), .group = group.view(), .parent = parent.view()});
  return definitions_.append(definition);
}

std::uint64_t ThreadIds::defined(JNIEnv* jni, jthread thread, Reason reason) {
  const auto id = id_of(jni, thread);
  std::atomic<std::uint64_t>& known = known_[slot_of(id)];
  if (known.load(std::memory_order_acquire) == id) return id;
  if (!define(jni, thread, id, reason)) return 0;
  known.store(id, std::memory_order_release);
  return id;
}

bool ThreadIds::define_by_field(JNIEnv* jni, jobject thread, std::uint64_t id) {
  constexpr jsize kMost = 128;  // chars
  char name[3 * kMost + 1] = "";
  LocalFrame frame(jni, 2);
  if (auto text = name_ == nullptr ? nullptr : static_cast<jstring>(jni->GetObjectField(thread, name_)))
    jni->GetStringUTFRegion(text, 0, std::min(jni->GetStringLength(text), kMost), name);
  return define_by_id(id, name);
}

bool ThreadIds::define_by_id(std::uint64_t id, std::string_view name) {
  Definition definition(id, record::ThreadFields{.flags = record::kThreadVirtual, .name = name});
  if (!definitions_.append(definition)) return false;
  known_[slot_of(id)].store(id, std::memory_order_release);
  return true;
}

std::uint64_t ThreadIds::defined_vm(Producer& producer) {
  const std::uint64_t id = trace::kVmThreadBase + producer.tid();
  if (producer.last_thread == id && producer.last_thread_generation == writer_.generation) return id;
  char name[32] = "";
  const std::size_t length = thread_comm(name, sizeof name);
  Definition definition(id, record::ThreadFields{.tid = producer.tid(),
                                                 .flags = record::kThreadRanBefore | record::kThreadVmInternal,
                                                 .name = std::string_view(name, length)});
  if (!definitions_.append(definition, false)) return 0;  // during a collection
  producer.last_thread = id;
  producer.last_thread_generation = writer_.generation;
  return id;
}

void ThreadIds::define_all(JNIEnv* jni) {
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti_);
  if (jvmti_->GetAllThreads(&count, threads.out()) != JVMTI_ERROR_NONE) return;
  accept_references(jni, count);
  jint blocked = 0;
  for (jint i = 0; i < count; ++i) {
    if (state_of(jvmti_, threads[i]) == record::ThreadWas::kBlocked) threads[blocked++] = threads[i];
    else define_before(jni, threads[i]);
  }
  // A contention may take an instant, and end without an event. What is still blocked now is in one that lasts; of what
  // has had an event since, that says enough.
  if (blocked != 0) usleep(kSecondLookUs);
  for (jint i = 0; i < blocked; ++i) define_before(jni, threads[i]);
}

// A thread that ran before the trace. Takes the reference.
void ThreadIds::define_before(JNIEnv* jni, jthread thread) {
  const auto id = id_of(jni, thread);
  if (!is_own(id) && !is_defined(id) && define(jni, thread, id, kIsThere))
    known_[slot_of(id)].store(id, std::memory_order_release);
  jni->DeleteLocalRef(thread);
}

}  // namespace jtrace::agent
