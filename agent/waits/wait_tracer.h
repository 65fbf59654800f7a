// WaitTracer: Thread.sleep and LockSupport.park as monWait and monWaited. JVM TI has no events for them.
//
// A platform thread's sleep is a native method: another function is bound to it (sleep_native.h). The sleep of a
// virtual thread and all parks are calls in Thread and LockSupport, which are changed to call a class of the agent
// (wait_redirect.h, wait_class.h). Both are undone at the end; only that class stays, and nothing calls it then. A
// thread that is waiting at that moment returns to it, or through the library, and reports nothing.
//
// Threads: prepare() on the attaching thread; start() and stop() on the control thread; the rest on any.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "agent/classfile/bytes.h"

namespace jtrace::agent {

class Registry;
class StackLooks;
class ThreadIds;
class CallbackGuard;

class WaitTracer {
 public:
  WaitTracer(jvmtiEnv* jvmti, StackLooks& looks, ThreadIds& threads, Registry& registry)
      : jvmti_(jvmti), looks_(looks), threads_(threads), registry_(registry) {}
  WaitTracer(const WaitTracer&) = delete;
  WaitTracer& operator=(const WaitTracer&) = delete;

  // Makes the class and finds what the waits of `events` need (wait_kinds.h). nullptr, or the reason why not. No
  // exception is left pending.
  const char* prepare(JNIEnv* jni, std::uint64_t events);
  // From now on waits are reported.
  void start(JNIEnv* jni);
  void stop(JNIEnv* jni);

  bool wants(std::uint64_t events) const { return (events_ & events) != 0; }
  // For the ClassFileLoadHook: true if the class was rewritten; then `out` is the new form.
  bool class_file(std::string_view name, classfile::ByteView bytes, classfile::Bytes& out) const;
  // What a parking thread waits for: its blocker's objId and the threadId of its owner, 0 if there is none. False if
  // there was no room for a definition.
  bool blocker_of(JNIEnv* jni, jthread thread, std::uint64_t& object, std::uint64_t& owner) const;

  // Steps of prepare(), for the rows of wait_kinds.h.
  const char* find_sleep(JNIEnv* jni);
  const char* find_blockers(JNIEnv* jni);

 private:
  const char* define_class(JNIEnv* jni);
  std::uint64_t owner_id(JNIEnv* jni, jobject lock) const;
  bool bind(JNIEnv* jni, bool ours) const;
  void retransform(JNIEnv* jni) const;

  jvmtiEnv* jvmti_;
  StackLooks& looks_;
  ThreadIds& threads_;
  Registry& registry_;
  std::uint64_t events_ = 0;     // of prepare()
  std::uint64_t rewritten_ = 0;  // those of them whose class is rewritten in this JVM
  std::atomic<bool> redirects_{false};
  jclass class_ = nullptr;    // global reference to that class
  jclass ownable_ = nullptr;  // global reference to AbstractOwnableSynchronizer
  jfieldID owner_field_ = nullptr;
  jfieldID blocker_field_ = nullptr;  // Thread.parkBlocker
};

}  // namespace jtrace::agent
