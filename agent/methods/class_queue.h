// ClassQueue: the classes that wait to be retransformed by the control thread, and the threads that wait for it.
//
// A thread that links a class which has no probes yet puts it in front and waits: none of the class's methods can run
// before it goes on. It does not retransform by itself. The JVM lets one thread at a time redefine a class; another
// agent's thread may have begun to, and wait for the linking one (InstanceKlass::link_class_impl holds the class's lock
// over ClassPrepare, JDK 8 to 27): the two would wait for each other for ever. So the wait has a limit.
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
  // Puts it before all that add() queued. Returns the ticket to wait for;
  // 0: none, since nobody will take it or too many waits have failed.
  std::uint32_t add_urgent(JNIEnv* jni, jclass klass);
  // Until the class is done; false after `limit_ns`.
  bool wait_for(std::uint32_t ticket, std::uint64_t limit_ns);

  // The next classes as local references, at most `most`, without those that were unloaded; false: there is none.
  bool take(JNIEnv* jni, jclass* batch, jint most, jint& count);
  bool take_urgent(JNIEnv* jni, jclass* batch, jint most, jint& count);
  bool has_urgent();
  // The classes of take_urgent() are done.
  void done();
  // Ends all waits; nothing is taken from here on.
  void close(JNIEnv* jni);

 private:
  bool is_worth_waiting() const;
  void wake(std::uint32_t ticket);

  pthread_mutex_t lock_;  // over what follows; no JVM TI call under it
  std::vector<jweak> classes_;
  std::size_t next_ = 0;
  std::vector<jweak> urgent_;
  std::uint32_t asked_ = 0;  // ticket of the last one in urgent_
  bool closed_ = false;
  std::uint32_t taken_ = 0;                     // that of the last one taken; the control thread's
  std::atomic<std::uint32_t> served_{0};        // that of the last one done; a futex
  std::atomic<std::uint32_t> in_vain_{0};       // failed waits, since one that succeeded
  std::atomic<std::uint64_t> last_in_vain_{0};  // the time of the last of them
};

}  // namespace jtrace::agent
