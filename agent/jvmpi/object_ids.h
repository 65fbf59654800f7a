// Object ids: the JVM TI tag of the object, which the collector keeps with it. An id never changes and is never used
// twice, so that OBJECT_MOVE is never needed, and a jobjectID stays valid without delaying the collector.
//
// Threads: any that may call JVM TI. No heap callback may be running.
#pragma once

#include <jvmti.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "agent/jvmpi/jvmpi.h"

namespace jtrace::agent::jvmpi {

// The low bits of a tag are flags about what was reported of the object; the rest is its id.
inline constexpr jlong kReported = 1;        // the defining event was sent: OBJECT_ALLOC, of a class CLASS_LOAD
inline constexpr jlong kIsClass = 2;         // a java.lang.Class: CLASS_UNLOAD comes for it
inline constexpr jlong kAwaitsCallouts = 4;  // a class that was loaded and not linked when its loader's were rewritten
inline constexpr jlong kTagFlags = 7;

inline jobjectID id_of_tag(jlong tag) { return reinterpret_cast<jobjectID>(tag & ~kTagFlags); }

class ObjectIds {
 public:
  explicit ObjectIds(jvmtiEnv* jvmti) : jvmti_(jvmti) { pthread_mutex_init(&lock_, nullptr); }
  ObjectIds(const ObjectIds&) = delete;
  ObjectIds& operator=(const ObjectIds&) = delete;

  // The tag with the object's id, which is given at the first call; 0 for null and if the JVM does not give one. Sets
  // `flags`; `before` gets the previous flags.
  jlong tag(jobject object, jlong flags, jlong* before = nullptr);
  void clear_flags(jobject object, jlong flags);
  jlong next_tag() { return next_.fetch_add(kTagFlags + 1, std::memory_order_relaxed); }
  // While an object of this class exists, no other thread gives ids or changes flags: a walk over the heap gives its
  // own, and must not happen between reading a tag and setting it.
  class Frozen {
   public:
    explicit Frozen(ObjectIds& ids) : ids_(ids) { pthread_mutex_lock(&ids_.lock_); }
    Frozen(const Frozen&) = delete;
    Frozen& operator=(const Frozen&) = delete;
    ~Frozen() { pthread_mutex_unlock(&ids_.lock_); }

   private:
    ObjectIds& ids_;
  };
  // A local reference; null if the object was freed.
  jobject object_of(jobjectID id);

 private:
  jvmtiEnv* jvmti_;
  pthread_mutex_t lock_;  // over giving an id and changing flags, not over reading a tag
  std::atomic<jlong> next_{kTagFlags + 1};
};

}  // namespace jtrace::agent::jvmpi
