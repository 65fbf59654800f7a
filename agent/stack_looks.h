// StackLooks: who may ask JVM TI for the methods of a stack, and when.
//
// GetStackTrace names methods by jmethodID. Up to JDK 22 HotSpot keeps a class's ids in an array that it replaces by a
// longer one, and frees, when the first id of a method is asked for that a redefinition has made obsolete; a thread
// that asks for an id of that class at the same time reads what has been freed (InstanceKlass::get_jmethod_id takes the
// array before JmethodIdCreation_lock; JDK-8313332 ended that in JDK 23), and the JVM dies. Callouts redefine classes
// and frames of the old methods run on. So the agent ensures that the arrays grow while no thread reads them:
//  - one look at a time;
//  - none from the moment on where classes are redefined until settle(), which has the JVM name the methods of all
//    stacks at a safepoint: there it makes the arrays as long as those frames need.
// A look is refused, and counted, while looks are closed, or if another one does not end (a debugger has suspended its
// thread).
//
// Threads: any; close() and settle() on the one that redefines. Owned by the session, or by the JVMPI bridge.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

namespace jtrace::agent {

class StackLooks {
 public:
  StackLooks() = default;
  StackLooks(const StackLooks&) = delete;
  StackLooks& operator=(const StackLooks&) = delete;

  // Finds out whether this JVM needs it.
  void start(jvmtiEnv* jvmti);
  // Classes are about to be redefined. Waits for the look that is under way, a second at the most.
  void close();
  // Classes have been redefined. Stops the JVM for a moment, where it needs that.
  void settle(jvmtiEnv* jvmti, JNIEnv* jni);

  // Frames of `thread`, from the innermost one on, at most `most`; 0: none, or not known. Never for null, the calling
  // thread without its name: JDK 21 waits for a stack until no virtual thread at all is in the middle of a mount
  // (JvmtiVTMSTransitionDisabler, jvmtiThreadState.cpp), and one may wait for a lock of the caller.
  jint frames_of(jvmtiEnv* jvmti, jthread thread, jint skip, jint most, jvmtiFrameInfo* frames);
  // Stacks of more frames must not be asked for.
  jint most_frames() const { return most_frames_.load(std::memory_order_relaxed); }
  // Looks that were refused.
  std::uint64_t skipped() const { return skipped_.load(std::memory_order_relaxed); }

 private:
  static constexpr jint kMostFrames = 32768;

  // A lock with a limit: pthread_mutex_timedlock has a version of its own in glibc 2.34 and later.
  bool take(std::uint64_t limit_ns);
  void give_back();

  bool careful_ = true;                 // the JVM needs this care
  std::atomic<std::uint32_t> busy_{0};  // a futex. 1: a thread is looking, 2: others may wait for it
  std::atomic<bool> closed_{false};
  std::atomic<jint> most_frames_{kMostFrames};
  std::atomic<std::uint64_t> skipped_{0};
};

}  // namespace jtrace::agent
