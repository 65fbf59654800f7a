// ThreadIds: the threadIds of a trace and their definitions. A threadId is java.lang.Thread's own id; a thread of the
// VM, which has no Thread, has one made of its kernel id (trace/vm_threads.h).
//
// Threads: start() on the attaching thread in the live phase, before all other functions; the others on any thread.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "agent/definition_stream.h"
#include "agent/producer.h"

namespace jtrace::agent {

class ThreadIds {
 public:
  ThreadIds(DefinitionStream& definitions, const PoolWriter& writer) : definitions_(definitions), writer_(writer) {}
  ThreadIds(const ThreadIds&) = delete;
  ThreadIds& operator=(const ThreadIds&) = delete;

  // Finds java.lang.Thread and makes the agent's own thread. nullptr, or the reason for the failure (static text).
  const char* start(JNIEnv* jni, jvmtiEnv* jvmti);
  void release(JNIEnv* jni);
  // The agent's own thread, until it runs.
  jthread own() const { return own_; }
  void release_own(JNIEnv* jni);

  // The id of a thread, whether it is defined or not.
  std::uint64_t id_of(JNIEnv* jni, jobject thread) const {
    return static_cast<std::uint64_t>(jni->GetLongField(thread, tid_));
  }
  // The id of the calling thread, which is `thread`, defined in the trace. 0 if it cannot be defined.
  std::uint64_t defined(JNIEnv* jni, jthread thread) { return defined(jni, thread, kActs); }
  // The same when it begins.
  std::uint64_t began(JNIEnv* jni, jthread thread) { return defined(jni, thread, kBegins); }
  // The same for another thread.
  std::uint64_t defined_other(JNIEnv* jni, jthread thread) { return defined(jni, thread, kIsThere); }
  // The same for the calling thread of the VM.
  std::uint64_t defined_vm(Producer& producer);
  // Defines a virtual thread by its id alone, or also by the name in its field, without JVM TI.
  bool define_by_id(std::uint64_t id) { return define_by_id(id, {}); }
  bool define_by_field(JNIEnv* jni, jobject thread, std::uint64_t id);
  // Defines all threads of the JVM, except the agent's own.
  void define_all(JNIEnv* jni);
  bool is_defined(std::uint64_t id) const { return known_[slot_of(id)].load(std::memory_order_acquire) == id; }

  bool is_own(std::uint64_t id) const { return id == own_id_; }
  std::uint64_t own_id() const { return own_id_; }
  bool is_virtual(JNIEnv* jni, jobject thread) const {
    return virtual_class_ != nullptr && jni->IsInstanceOf(thread, virtual_class_) != JNI_FALSE;
  }
  // Whether this JVM can make virtual threads.
  bool may_be_virtual() const { return virtual_class_ != nullptr; }
  // Whether it may have made one that is mounted on carriers: nothing else initializes their class.
  bool had_virtual() const;
  jclass thread_class() const { return class_; }

 private:
  // Ids that are defined already, direct mapped. An evicted one is defined again, which the drainer expects.
  static constexpr std::uint32_t kKnown = 16384;
  static std::uint32_t slot_of(std::uint64_t id) { return static_cast<std::uint32_t>(id) % kKnown; }

  // What tells of a thread: its begin, its own event, or another thread.
  enum Reason { kBegins, kActs, kIsThere };

  const char* make_own(JNIEnv* jni);
  void find_virtual(JNIEnv* jni);
  bool define_by_id(std::uint64_t id, std::string_view name);
  void define_before(JNIEnv* jni, jthread thread);
  std::uint64_t defined(JNIEnv* jni, jthread thread, Reason reason);
  bool define(JNIEnv* jni, jthread thread, std::uint64_t id, Reason reason);

  DefinitionStream& definitions_;
  const PoolWriter& writer_;
  jvmtiEnv* jvmti_ = nullptr;
  jclass class_ = nullptr;          // global reference to java.lang.Thread
  jclass virtual_class_ = nullptr;  // global reference to BaseVirtualThread, if there is one
  jclass mounted_class_ = nullptr;  // global reference to VirtualThread, if there is one
  mutable std::atomic<bool> had_virtual_{false};
  jfieldID tid_ = nullptr;   // Thread.tid, a long in every JDK (java/lang/Thread.java, 8 to 27)
  jfieldID name_ = nullptr;  // Thread.name, a String in the JDKs with virtual threads; null: not found
  jthread own_ = nullptr;    // global reference
  std::uint64_t own_id_ = ~0ull;
  std::atomic<std::uint64_t> known_[kKnown] = {};
};

}  // namespace jtrace::agent
