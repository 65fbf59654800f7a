// METHOD_ENTRY, METHOD_ENTRY2, METHOD_EXIT, and on JDK 8 OBJECT_ALLOC, by callouts in the bytecode (agent/classfile).
//
// A callout calls a class in java.lang, which reads one static field and calls native code. The native code takes the
// jmethodID of a number from the stack at its first call, so nothing must be known about a class when it is rewritten.
// Callouts are not removed: while no event is on, they only read that field.
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

  // Makes the class that callouts call. It also marks the JVM as one that has a bridge. Null, or the reason for the
  // failure (static text).
  const char* define_helper(JNIEnv* jni);
  static bool helper_exists(JNIEnv* jni);

  // The options of rewrite_class() that the helper is made for.
  static constexpr std::uint32_t kOptions = classfile::kCalloutEntry | classfile::kCalloutExit |
                                            classfile::kCalloutReceiver | classfile::kCalloutArrays |
                                            classfile::kCalloutNew;

  // Before install(): also report receivers.
  void want_receivers() { wanted_ |= classfile::kCalloutReceiver; }
  void want_allocations() { wanted_ |= classfile::kCalloutArrays | classfile::kCalloutNew; }
  bool makes_allocations() const { return (wanted_ & classfile::kCalloutNew) != 0; }

  // Inserts callouts into all loaded classes, and into those that will be loaded; then switch_callouts().
  bool install(JNIEnv* jni);
  bool installed() const { return installed_.load(std::memory_order_relaxed) != 0; }
  // Lets the callouts that are wanted call native code, and no others.
  void switch_callouts(JNIEnv* jni);

  // Whether Thread.sleep reports kSleepEvents, for which the helper must bind it.
  void bind_sleep(JNIEnv* jni, bool ours);

  // True: the class is the helper. Otherwise a class that was not linked when callouts were inserted gets them now.
  bool class_prepared(JNIEnv* jni, jclass klass);
  void class_file(classfile::ByteView bytes, jint* new_size, unsigned char** new_bytes);

  bool is_callout(jmethodID method) const;

  // The bodies of the natives.
  void entered(JNIEnv* jni, jint number, jobject receiver);
  void exited(JNIEnv* jni, jint number);
  void allocated(JNIEnv* jni, jobject object);

 private:
  static constexpr int kHelperMethods = 9;  // that are called while a callout runs

  bool is_guarded(jclass klass) const;
  void retransform_loaded(JNIEnv* jni);
  void retransform(const jclass* classes, jint count);
  jmethodID method_of(JNIEnv* jni, MethodSlot& slot);
  jobject receiver_of_constructor(const MethodSlot& slot) const;
  void send(JNIEnv* jni, jint type, jmethodID method) const;

  Bridge& bridge_;
  MethodTable table_;
  std::atomic<std::uint32_t> wanted_{0};
  std::atomic<std::uint32_t> installed_{0};  // Callout bits of new classes
  std::atomic<bool> sleep_bound_{false};
  jclass helper_ = nullptr;  // global reference
  jfieldID switch_ = nullptr;
  jmethodID helper_methods_[kHelperMethods] = {};
};

}  // namespace jtrace::agent::jvmpi
