#include "agent/jvmpi/threads.h"

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

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
    record->suspended = false;
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
  pthread_mutex_lock(&lock_);
  jthread reference = record.thread;
  record.thread = nullptr;
  record.env.store(nullptr, std::memory_order_release);
  pthread_mutex_unlock(&lock_);
  if (reference != nullptr) Bridge::get()->delete_global(jni, reference);
}

}  // namespace jtrace::agent::jvmpi
