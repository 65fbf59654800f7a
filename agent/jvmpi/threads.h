// Threads: the bridge's facts about each thread, by its JNIEnv, which is JVMPI's name for it.
//
// JVM TI identifies threads by their java.lang.Thread. The JNIEnv of a thread is at a fixed offset in HotSpot's
// JavaThread, whose address is the field Thread.eetop; the offset is determined from a thread for which both are known.
// Records are never freed: find() takes no lock and may race with anything. A thread may end while another one asks
// about it, so its java.lang.Thread is used through ThreadUse alone.
#pragma once

#include <jvmti.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "agent/jvmpi/call_stack.h"
#include "agent/jvmpi/jvmpi.h"

namespace jtrace::agent::jvmpi {

struct ThreadRecord {
  std::atomic<JNIEnv*> env{nullptr};  // null: free
  ThreadRecord* next = nullptr;
  std::atomic<void*> local{nullptr};                    // the profiler's
  std::atomic<jthread> thread{nullptr};                 // global reference; null: the thread has ended
  std::atomic<bool> reported{false};                    // THREAD_START was sent
  std::atomic<bool> suspended{false};                   // by SuspendThread
  std::atomic<bool> leaves{false};                      // it ends: may not be suspended any more
  std::atomic<int> uses{0};                             // ThreadUse objects: while there is one, it does not end
  jlong cpu_at_suspend = 0, cpu_at_suspend_before = 0;  // nanoseconds
  JNIEnv* contended_with = nullptr;  // owner of the monitor that it waits to enter; only used by the thread itself
  bool asks_for_classes = false;     // looks for class files (class_hook.cpp); only used by the thread itself
  jlong wait_began = 0;              // Object.wait: milliseconds of CLOCK_MONOTONIC; only used by the thread itself
  std::atomic<JVMPI_RawMonitor> entering{nullptr};  // raw monitor that it waits for
  std::atomic<JVMPI_RawMonitor> waiting{nullptr};   // raw monitor on which it waits to be notified
  CallStack calls;                                  // only used by the thread itself
};

class Threads {
 public:
  Threads() { pthread_mutex_init(&lock_, nullptr); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Determines the offset of the JNIEnv from the calling thread. False: this JVM's Thread has no eetop.
  bool learn(JNIEnv* jni, jthread current);
  // Null if the thread has not started or has ended.
  JNIEnv* env_of(JNIEnv* jni, jthread thread) const;

  ThreadRecord* find(JNIEnv* env) const {
    for (ThreadRecord* each = bucket(env).load(std::memory_order_acquire); each != nullptr; each = each->next)
      if (each->env.load(std::memory_order_relaxed) == env) return each;
    return nullptr;
  }
  // The record of `env`, made if there is none.
  ThreadRecord* add(JNIEnv* jni, JNIEnv* env, jthread thread);
  // By the thread itself, at its end. It stays here while it is suspended, and while others have a ThreadUse of it.
  void remove(JNIEnv* jni, ThreadRecord& record);
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& head : buckets_)
      for (ThreadRecord* each = head.load(std::memory_order_acquire); each != nullptr; each = each->next)
        if (each->env.load(std::memory_order_acquire) != nullptr) visit(*each);
  }

 private:
  static constexpr std::size_t kBuckets = 4096;
  // JNIEnvs are in objects of a few KiB from malloc.
  std::size_t place(JNIEnv* env) const { return (reinterpret_cast<std::uintptr_t>(env) >> 5) * 2654435761u % kBuckets; }
  const std::atomic<ThreadRecord*>& bucket(JNIEnv* env) const { return buckets_[place(env)]; }

  std::atomic<ThreadRecord*> buckets_[kBuckets] = {};
  pthread_mutex_t lock_;  // over making and freeing records
  jfieldID eetop_ = nullptr;
  std::intptr_t env_offset_ = 0;
};

// The thread that `env` names, while it is asked about: it does not end meanwhile. Until JDK 10 (JDK-8167108) JVM TI
// has nothing that keeps a JavaThread while it looks at it, and writes into freed memory if the thread ends. Takes no
// lock, because the profiler may suspend the thread that has one of these.
class ThreadUse {
 public:
  ThreadUse(const Threads& threads, JNIEnv* env) : record_(threads.find(env)) {
    if (record_ == nullptr) return;
    record_->uses.fetch_add(1);
    thread_ = record_->thread.load();
    if (record_->env.load() != env) thread_ = nullptr;  // the record is another thread's by now
  }
  ~ThreadUse() {
    if (record_ != nullptr) record_->uses.fetch_sub(1);
  }
  ThreadUse(const ThreadUse&) = delete;
  ThreadUse& operator=(const ThreadUse&) = delete;

  // Null if there is no such thread, or if it has ended. A null must not be passed to JVM TI, for which null means the
  // calling thread.
  jthread thread() const { return thread_; }
  // Only where thread() is not null.
  ThreadRecord& record() const { return *record_; }

 private:
  ThreadRecord* record_;
  jthread thread_ = nullptr;
};

}  // namespace jtrace::agent::jvmpi
