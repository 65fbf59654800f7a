// Callees: gives each method that the classes of a loader name a number for the callouts of calls
// (classfile::CalleeNumbers). A number is defined before its callout can run: as the method to which the JVM would
// resolve it. If that method's class is not linked yet, the number is defined by name only, and again when the class is
// linked.
//
// Threads: any that may call JVM TI and JNI.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "agent/classfile/class_file.h"
#include "agent/definition_stream.h"
#include "agent/methods/class_index.h"
#include "agent/methods/loaders.h"

namespace jtrace::agent {

class Callees {
 public:
  Callees(jvmtiEnv* jvmti, Registry& registry, DefinitionStream& definitions);
  Callees(const Callees&) = delete;
  Callees& operator=(const Callees&) = delete;

  // nullptr, or the reason why there are none (static text).
  const char* start(JNIEnv* jni);
  void stop(JNIEnv* jni);
  // Called when no thread can be inside any of these functions.
  void destroy_monitor();

  // The number of a callee that a class of the loader names; 0 if there is no room for its definition.
  std::uint32_t number(JNIEnv* jni, jobject loader, const classfile::ClassFile::Reference& callee, bool is_static);
  void class_prepared(JNIEnv* jni, jclass klass);

 private:
  struct Retry {           // a definition that found no room
    std::uint64_t serial;  // the loader's
    std::uint64_t owner;
    std::uint32_t loader;
  };
  // How a callee whose class is found was defined.
  enum class Defined { kIs, kIsNot, kNoRoom };
  Defined define(JNIEnv* jni, std::uint32_t number, jclass klass, std::uint64_t method);
  bool define_name(std::uint32_t number, std::uint32_t loader, const classfile::ClassFile::Reference& callee,
                   bool is_static);
  void wait(std::uint32_t loader, std::uint64_t owner, std::uint32_t steps, WaitingCallees::Callee callee);
  void watch(std::uint32_t loader, WaitingCallees& waiting);
  void answer(JNIEnv* jni, std::uint64_t watch_key, std::uint64_t owner);
  void answer(JNIEnv* jni, std::uint32_t loader, std::uint64_t owner);
  bool define_all(JNIEnv* jni, WaitingCallees& waiting, const ClassIndex::Found& found);
  void retry(JNIEnv* jni);

  jvmtiEnv* jvmti_;
  Registry& registry_;
  DefinitionStream& definitions_;
  // over the following; the locks of the registry and the definitions are taken while it is held
  jrawMonitorID monitor_ = nullptr;
  bool is_on_ = false;
  Loaders loaders_;
  ClassIndex index_;
  std::vector<Retry> retries_;
};

}  // namespace jtrace::agent
