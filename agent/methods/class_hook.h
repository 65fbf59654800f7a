// ClassHook: what the ClassFileLoadHook does with a class: it gets its numbers, its definitions and its callouts.
//
// A class that is redefined has its id, and its definitions are written before the callouts go in. A class that is
// being loaded has none yet; its definitions are kept, and written at ClassPrepare, before any of its methods runs.
//
// Threads: prepare() and filters_changed() on one; the rest on any.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/class_rewriter.h"
#include "agent/methods/callout_class.h"
#include "agent/methods/class_numbers.h"
#include "agent/methods/patience.h"

namespace jtrace::agent {

class Callees;
class CalloutArea;
class Retransformer;
class RewriteResults;
struct Recorder;

class ClassHook {
 public:
  // What is known of a class at ClassPrepare.
  enum class Prepared {
    kDefined,   // it came through the hook, under the filters in use
    kOutdated,  // it came through the hook, under other filters
    kUnseen     // it did not
  };

  ClassHook(Recorder& recorder, ClassNumbers& numbers, RewriteResults& results, Callees& callees,
            Retransformer& retransformer);
  ClassHook(const ClassHook&) = delete;
  ClassHook& operator=(const ClassHook&) = delete;

  // Before the first class. What was granted is known.
  void prepare(CalloutArea& area);
  void filters_changed() { filters_.fetch_add(1); }

  // As JVM TI's ClassFileLoadHook. `redefined` nullptr: a class that is being loaded.
  void class_file(JNIEnv* jni, jclass redefined, jobject loader, classfile::ByteView bytes, jint* new_size,
                  unsigned char** new_bytes);
  // Writes the definitions of a class that was loaded with callouts. `name`: internal form.
  Prepared class_prepared(JNIEnv* jni, jclass klass, std::string_view name, std::uint64_t thread);
  // True if the class was rewritten while it was loaded and has not been prepared since.
  bool is_loading(JNIEnv* jni, jclass klass);

 private:
  bool number(JNIEnv* jni, jclass redefined, jobject loader, const classfile::ClassFile& klass, Numbered& numbers,
              std::uint64_t& id);
  void skip(const classfile::ClassFile& klass, const char* why);
  std::vector<classfile::MethodPlan> plan(const classfile::ClassFile& klass, const Numbered& numbers) const;
  bool define(const classfile::ClassFile& klass, Numbered& numbers, std::uint64_t id);
  void keep_definitions(JNIEnv* jni, const classfile::ClassFile& klass, const Numbered& numbers, jobject loader,
                        std::uint32_t filters);
  void add_results(const classfile::ClassFile& klass, const std::vector<classfile::MethodPlan>& plans);
  void note_counted(Numbered& numbers, const std::vector<classfile::MethodPlan>& plans) const;

  Recorder& recorder_;
  ClassNumbers& numbers_;
  RewriteResults& results_;
  Callees& callees_;
  Retransformer& retransformer_;
  Patience patience_;
  CalloutArea* area_ = nullptr;
  CalloutStyle style_{};
  std::uint32_t wanted_ = 0;               // bits of classfile::Callout*, for included methods
  std::uint32_t first_number_ = 0;         // of this session's methods
  std::atomic<std::uint32_t> filters_{0};  // number of changes
};

}  // namespace jtrace::agent
