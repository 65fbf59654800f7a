// MethodTracer: inserts the callouts into the classes that the filters choose, and removes them again.
//
// The control thread retransforms loaded classes in batches, which bounds how long the JVM is stopped for each batch.
// Classes that are loaded later get their callouts in the ClassFileLoadHook. A method is known by its number, which is
// the methodId of the trace. Its definition is written before any of its callouts can run: in the hook if the class
// exists, at ClassPrepare if it is being loaded. A class that reaches ClassPrepare without the callouts it should have
// (it was loaded before the hook was on, or under other filters) is retransformed before the linking thread continues.
//
// Threads: the hook on any thread, the rest on the control thread except prepare() (the attaching thread).
#pragma once

#include <jni.h>
#include <jvmti.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/class_file.h"
#include "agent/definition_stream.h"
#include "agent/methods/boxes.h"
#include "agent/methods/callees.h"
#include "agent/methods/callout_area.h"
#include "agent/methods/callout_class.h"
#include "agent/methods/callout_exceptions.h"
#include "agent/methods/class_hook.h"
#include "agent/methods/class_numbers.h"
#include "agent/methods/class_queue.h"
#include "agent/methods/late_classes.h"
#include "agent/methods/late_frees.h"
#include "agent/methods/retransformer.h"
#include "agent/methods/rewrite_results.h"

namespace jtrace::agent {

class CallbackGuard;
class Wakeup;
struct Recorder;

class MethodTracer {
 public:
  // The recorder has its registry. `wakeup`: of the control thread, which calls rewrite_some().
  MethodTracer(Recorder& recorder, Wakeup& wakeup);
  MethodTracer(const MethodTracer&) = delete;
  MethodTracer& operator=(const MethodTracer&) = delete;

  // Makes the callout class and the coarse clock. nullptr, or the reason why not.
  const char* prepare(JNIEnv* jni, int pool_descriptor);
  // The registry asks nothing more of it.
  void disconnect();
  // From now on classes get callouts as they are loaded; loaded classes are queued. `notes_late`: name the classes that
  // have run before, which are few if the JVM was started with the agent.
  void start(JNIEnv* jni, bool notes_late);
  // Retransforms the next batch of the queue; false when nothing is left.
  bool rewrite_some(JNIEnv* jni);
  // The same, only for classes that threads wait for. Called between the steps of long work.
  bool rewrite_urgent(JNIEnv* jni);
  // The filters have changed: queues classes that have callouts and classes that need them.
  void refilter(JNIEnv* jni);
  // Removes all callouts from all classes. At the end of the JVM it only stops them.
  void remove(JNIEnv* jni);
  // Called after remove(), when no callback can be running any more.
  void release(JNIEnv* jni) {
    callees_.destroy_monitor();
    throwable_.release(jni);
    if (string_class_ != nullptr) jni->DeleteGlobalRef(string_class_);
    boxes_.release(jni);
  }
  // Lets callouts write or not (pause).
  void set_on(bool on);

  // The ClassFileLoadHook; `redefined` nullptr: a class that is being loaded.
  void class_file(JNIEnv* jni, jclass redefined, jobject loader, classfile::ByteView bytes, jint* new_size,
                  unsigned char** new_bytes);
  void class_prepared(JNIEnv* jni, jclass klass, std::uint64_t thread);
  // Writes the methodCount of every method with a counter, and what has none, into the trace, at the end of the JVM. On
  // a thread that may wait for the drainer. Does nothing if calls are not counted.
  void write_counts(JNIEnv* jni, const CallbackGuard& guard);
  std::vector<std::uint32_t> counted_methods() { return numbers_.counted_methods(); }
  // For the methods that the filters include: "counted=N,...", how many are counted and how many cannot be.
  int coverage(JNIEnv* jni, std::size_t counted, char* text, std::size_t size);
  // The end of an object, in JVM TI's ObjectFree: false if it must be written now (late_frees.h).
  bool keep_free(std::uint64_t object);
  // Writes the kept frees that need not wait any longer; checks ten times a second. On the control thread.
  void write_due_frees();
  // Writes the rest, at the end of the trace or of the JVM.
  void write_last_frees(const CallbackGuard& guard);
  ClassNumbers& numbers() { return numbers_; }
  CalloutArea& area() const { return *area_; }
  const ThrowableFields& throwable() const { return throwable_; }
  jclass string_class() const { return string_class_; }
  const Boxes& boxes() const { return boxes_; }
  // A stack of open calls for the calling thread; nullptr if there is none left, which is counted.
  OpenCalls::Stack* open_calls_of(std::uint64_t thread);
  // "classes=N,methods=N,...": for the trace and for status.
  int figures(char* text, std::size_t size) const;
  std::uint32_t methods_with_callouts() const { return results_.methods(); }

 private:
  void connect();
  Retransformer::Purpose purpose() const {
    return removing_ ? Retransformer::Purpose::kRemove : Retransformer::Purpose::kInsert;
  }
  void refilter(JNIEnv* jni, bool notes_late);
  void note_late(jclass klass);
  bool is_concerned(jclass klass);
  void take_prepared(JNIEnv* jni, jclass klass, std::uint64_t thread);
  void rewrite_prepared(JNIEnv* jni, jclass klass, std::string_view name);
  bool traces_calls() const;
  bool counts_calls() const;
  static void write_frees(const CallbackGuard& guard, const std::vector<std::uint64_t>& objects);

  Recorder& recorder_;
  Wakeup& wakeup_;
  jclass string_class_ = nullptr;  // global reference to java.lang.String
  Boxes boxes_;
  ThrowableFields throwable_;
  Callees callees_;
  CalloutArea* area_ = nullptr;
  CalloutClassFacts facts_;
  LateFrees late_frees_;
  std::uint64_t next_frees_ = 0;
  ClassNumbers numbers_;
  RewriteResults results_;
  Retransformer retransformer_;
  ClassHook hook_;
  ClassQueue queue_;
  LateClasses late_;    // of refilter()
  pthread_t server_{};  // the control thread, from start() on
  bool filter_is_noted_ = true;
  std::atomic<bool> active_{false};
  std::atomic<bool> removing_{false};
  std::atomic<std::uint64_t> unwatched_{0};  // calls for which there was no stack
};

}  // namespace jtrace::agent
