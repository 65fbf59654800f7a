// ClassQueue: the classes that wait to be retransformed by the control thread, and the threads that wait for it.
//
// A thread that links a class without callouts puts it at the front and waits: none of the class's methods can run
// before it continues. It does not retransform by itself. The JVM lets only one thread at a time redefine a class. A
// thread of another agent may have begun to redefine it and may wait for the linking thread
// (InstanceKlass::link_class_impl holds the class's lock during ClassPrepare, JDK 8 to 27): a deadlock. So the wait has
// a limit.
//
// Classes are held weakly. Threads: take*() and done() on the control thread, the rest on any.
#pragma once

#include <jni.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace jtrace::agent {

class ClassQueue {
 public:
  ClassQueue() { pthread_mutex_init(&lock_, nullptr); }
  ClassQueue(const ClassQueue&) = delete;
  ClassQueue& operator=(const ClassQueue&) = delete;
  ~ClassQueue() { pthread_mutex_destroy(&lock_); }

  void add(JNIEnv* jni, jclass klass);
  // Puts the class before all that add() queued. Returns the ticket to wait for; 0: none, because it will not be taken
  // or too many waits have failed.
  std::uint32_t add_urgent(JNIEnv* jni, jclass klass);
  // Waits until the class is done; false after `limit_ns`.
  bool wait_for(std::uint32_t ticket, std::uint64_t limit_ns);

  // The next classes as local references, at most `most`, without unloaded ones; false if there is none.
  bool take(JNIEnv* jni, jclass* batch, jint most, jint& count);
  bool take_urgent(JNIEnv* jni, jclass* batch, jint most, jint& count);
  bool has_urgent();
  // The classes of take_urgent() are done.
  void done();
  // Ends all waits; nothing is taken after this call.
  void close(JNIEnv* jni);

 private:
  bool is_worth_waiting() const;
  void wake(std::uint32_t ticket);

  pthread_mutex_t lock_;  // over the following; no JVM TI call while it is held
  std::vector<jweak> classes_;
  std::size_t next_ = 0;
  std::vector<jweak> urgent_;
  std::uint32_t asked_ = 0;  // ticket of the last class in urgent_
  bool closed_ = false;
  std::uint32_t taken_ = 0;                     // ticket of the last class taken; belongs to the control thread
  std::atomic<std::uint32_t> served_{0};        // ticket of the last class done; a futex
  std::atomic<std::uint32_t> in_vain_{0};       // failed waits since one that succeeded
  std::atomic<std::uint64_t> last_in_vain_{0};  // the time of the last of them
};

}  // namespace jtrace::agent
