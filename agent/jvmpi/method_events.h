// METHOD_ENTRY, METHOD_ENTRY2, METHOD_EXIT, and on JDK 8 OBJECT_ALLOC, by probes in the bytecode (agent/classfile).
//
// A probe calls a class in java.lang, which looks at one static field and calls on into native code. The native code
// learns the jmethodID of a number at its first call from the stack, so nothing has to be known of a class when it is
// rewritten. Probes stay where they are: while no event is on, they cost that look.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "agent/classfile/bytes.h"
#include "agent/classfile/class_rewriter.h"
#include "agent/jvmpi/method_table.h"

namespace jtrace::agent::jvmpi {

class Bridge;
struct ThreadRecord;

class MethodEvents {
 public:
  explicit MethodEvents(Bridge& bridge) : bridge_(bridge) {}

  // The class that probes call. It also marks the JVM as one that has a bridge. Null, or why not (static text).
  const char* define_helper(JNIEnv* jni);
  static bool helper_exists(JNIEnv* jni);

  // Before install(): what probes have to tell besides.
  void want_receivers() { wanted_ |= classfile::kProbeReceiver; }
  void want_allocations() { wanted_ |= classfile::kProbeArrays | classfile::kProbeNew; }
  bool makes_allocations() const { return (wanted_ & classfile::kProbeNew) != 0; }

  // Probes into all classes that are loaded, and into those that will be; then switch_probes().
  bool install(JNIEnv* jni);
  bool installed() const { return installed_.load(std::memory_order_relaxed) != 0; }
  // Lets the probes that somebody wants call native code, and no other.
  void switch_probes(JNIEnv* jni);

  // Whether Thread.sleep tells kSleepEvents, which the helper has to bind.
  void bind_sleep(JNIEnv* jni, bool ours);

  // True: the class is the helper. Else a class that was not linked when probes came gets them now.
  bool class_prepared(JNIEnv* jni, jclass klass);
  void class_file(classfile::ByteView bytes, jint* new_size, unsigned char** new_bytes);

  bool is_probe(jmethodID method) const;

  // What the natives do.
  void entered(JNIEnv* jni, jint number, jobject receiver);
  void exited(JNIEnv* jni, jint number);
  void allocated(JNIEnv* jni, jobject object);

 private:
  static constexpr int kHelperMethods = 9;

  bool is_guarded(jclass klass) const;
  void retransform_loaded(JNIEnv* jni);
  void retransform(const jclass* classes, jint count);
  jmethodID method_of(JNIEnv* jni, MethodSlot& slot);
  jobject receiver_of_constructor(const MethodSlot& slot) const;
  void send(JNIEnv* jni, jint type, jmethodID method) const;

  Bridge& bridge_;
  MethodTable table_;
  std::atomic<std::uint32_t> wanted_{0};
  std::atomic<std::uint32_t> installed_{0};  // probe bits that classes get
  std::atomic<bool> sleep_bound_{false};
  jclass helper_ = nullptr;  // global reference
  jfieldID switch_ = nullptr;
  jmethodID helper_methods_[kHelperMethods] = {};
};

}  // namespace jtrace::agent::jvmpi
