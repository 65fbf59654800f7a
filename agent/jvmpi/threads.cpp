#include "agent/jvmpi/threads.h"

#include <unistd.h>

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr useconds_t kUseEnds = 50;  // microseconds; what a thread is asked takes as long

}  // namespace

bool Threads::learn(JNIEnv* jni, jthread current) {
  jclass thread = jni->FindClass("java/lang/Thread");
  jfieldID eetop = thread == nullptr ? nullptr : jni->GetFieldID(thread, "eetop", "J");
  jni->ExceptionClear();
  if (eetop == nullptr) return false;
  const jlong address = jni->GetLongField(current, eetop);
  if (address == 0) return false;
  env_offset_ = reinterpret_cast<std::intptr_t>(jni) - static_cast<std::intptr_t>(address);
  eetop_ = eetop;
  return true;
}

JNIEnv* Threads::env_of(JNIEnv* jni, jthread thread) const {
  const jlong address = jni->GetLongField(thread, eetop_);
  return address == 0 ? nullptr : reinterpret_cast<JNIEnv*>(static_cast<std::intptr_t>(address) + env_offset_);
}

ThreadRecord* Threads::add(JNIEnv* jni, JNIEnv* env, jthread thread) {
  // made outside the lock, because it may wait for a safepoint
  jthread reference = Bridge::get()->new_global(jni, thread);
  pthread_mutex_lock(&lock_);
  ThreadRecord* record = find(env);
  if (record == nullptr) {
    std::atomic<ThreadRecord*>& head = buckets_[place(env)];
    for (ThreadRecord* each = head.load(); each != nullptr && record == nullptr; each = each->next)
      if (each->env.load() == nullptr) record = each;
    if (record == nullptr) {
      record = new ThreadRecord;
      record->next = head.load();
      head.store(record, std::memory_order_release);
    }
    record->local = nullptr;
    record->thread = reference;
    record->reported = false;
    record->suspended = record->leaves = false;
    record->cpu_at_suspend = record->cpu_at_suspend_before = 0;
    record->calls.clear();
    record->env.store(env, std::memory_order_release);
    reference = nullptr;
  }
  pthread_mutex_unlock(&lock_);
  if (reference != nullptr) Bridge::get()->delete_global(jni, reference);
  return record;
}

void Threads::remove(JNIEnv* jni, ThreadRecord& record) {
  // Who resumes it has to find it, so a thread that was suspended a moment ago must stop while it still has its record:
  // in this call, which enters the JVM. Who suspends it from here on sees that it leaves (suspend_thread).
  record.leaves = true;
  jni->NewLocalRef(nullptr);
  // A use that begins from here on finds null. This thread is in native code: no thread has to wait for it.
  const jthread reference = record.thread.exchange(nullptr);
  while (record.uses.load() != 0) usleep(kUseEnds);
  pthread_mutex_lock(&lock_);
  record.env.store(nullptr, std::memory_order_release);
  pthread_mutex_unlock(&lock_);
  if (reference != nullptr) Bridge::get()->delete_global(jni, reference);
}

}  // namespace jtrace::agent::jvmpi
