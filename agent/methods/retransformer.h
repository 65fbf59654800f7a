// Retransformer: has the JVM retransform classes, so that they come through the ClassFileLoadHook once more, and notes
// those that it refuses. It also knows which loaded class has callouts.
//
// Threads: retransform() on the control thread, the rest on any.
#pragma once

#include <jni.h>
#include <jvmti.h>

namespace jtrace::agent {

class ClassNumbers;
class RewriteResults;

class Retransformer {
 public:
  // Why classes are retransformed.
  enum class Purpose { kInsert, kRemove };

  Retransformer(jvmtiEnv* jvmti, ClassNumbers& numbers, RewriteResults& results)
      : jvmti_(jvmti), numbers_(numbers), results_(results) {}
  Retransformer(const Retransformer&) = delete;
  Retransformer& operator=(const Retransformer&) = delete;

  // Asks what the JVM can do; once, before the rest.
  void prepare();
  // Reorders `classes`. A class whose constant pool has no room left (pool_room.h) and one that the JVM refuses stay as
  // they are, and are named in the trace.
  void retransform(jclass* classes, jint count, Purpose purpose);
  bool is_modifiable(jclass klass) const;
  bool has_callouts(jclass klass) const;
  void set_callouts(jclass klass, bool has);

 private:
  jint with_room(jclass* classes, jint count, Purpose purpose);
  void note(jclass klass, const char* why);

  jvmtiEnv* jvmti_;
  ClassNumbers& numbers_;
  RewriteResults& results_;
  bool measures_pools_ = true;  // the JVM does not check for overflow itself (pool_room.h)
};

}  // namespace jtrace::agent
