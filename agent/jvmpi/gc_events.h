// GC_START, GC_FINISH, OBJECT_FREE, CLASS_UNLOAD.
//
// Handlers of GC_START take the profiler's locks. In the pause of a collection a handler would wait for ever if a
// stopped thread holds such a lock (JVM TI's raw monitors stop for the pause, seen with JDK 27); and HotSpot reports
// frees only after the pause anyway. So GC_START, the frees and GC_FINISH are sent together, by a thread of the bridge,
// soon after the pause. A profiler whose handlers take no lock may have GC_START and GC_FINISH in the pause itself
// (option gc=pause); the frees then have a pair of their own.
#pragma once

#include <jvmti.h>
#include <pthread.h>

#include <atomic>
#include <vector>

#include "agent/jvmpi/heap_counters.h"
#include "base/unique_fd.h"

namespace jtrace::agent::jvmpi {

class Bridge;

class GcEvents {
 public:
  explicit GcEvents(Bridge& bridge);
  GcEvents(const GcEvents&) = delete;
  GcEvents& operator=(const GcEvents&) = delete;
  void set_in_pause() { in_pause_ = true; }

  // Call it when the JVM has made its counters.
  void find_counters() { counters_.find(); }
  // In the JVM's threads, in which nothing may wait for the JVM.
  void started();
  void finished();
  void freed(jlong tag);

  // Starts the thread that delivers. False: it cannot be started.
  bool start_thread(JNIEnv* jni);
  // Delivers the rest, before the JVM ends.
  void deliver_rest();

 private:
  // A collection (tag 0), or an object that was freed.
  struct Item {
    jlong tag = 0;
    HeapFigures figures;
  };

  static void JNICALL run(jvmtiEnv*, JNIEnv* jni, void* self);
  void push(const Item& item);
  void wait_for_batch();
  void deliver(JNIEnv* jni);
  std::size_t deliver_pair(JNIEnv* jni, const std::vector<Item>& batch, std::size_t from);
  void send_start();
  void send_finish(const HeapFigures& figures);

  Bridge& bridge_;
  HeapCounters counters_;
  bool in_pause_ = false;
  pthread_mutex_t lock_;        // over queue_; held for a push or a swap, during which the JVM cannot stop a thread
  pthread_mutex_t delivering_;  // one deliverer at a time
  UniqueFd wakeup_;             // an eventfd: the queue is not empty
  std::vector<Item> queue_;
  std::atomic<bool> running_{false};
};

}  // namespace jtrace::agent::jvmpi
