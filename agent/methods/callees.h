// Callees: the numbers in the probes of calls (classfile::CalleeNumbers): one for each method that the
// classes of a loader name. A number is defined before its probe can run: as the method that the JVM
// would resolve it to; where that class is not linked yet by its name only, and again when it is linked.
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
  explicit Callees(AgentSession& session);
  Callees(const Callees&) = delete;
  Callees& operator=(const Callees&) = delete;

  // nullptr, or why there are none (static text).
  const char* start(JNIEnv* jni);
  void stop(JNIEnv* jni);
  // Once no thread can be inside any of these.
  void destroy_monitor();

  // Of a callee that a class of the loader names; 0 where there is no room for its definition.
  std::uint32_t number(JNIEnv* jni, jobject loader, const classfile::ClassFile::Reference& callee, bool is_static);
  void class_prepared(JNIEnv* jni, jclass klass);

 private:
  struct Retry {           // what found no room
    std::uint64_t serial;  // the loader's
    std::uint64_t owner;
    std::uint32_t loader;
  };
  // Of a callee whose class is found.
  enum class Told { kIs, kIsNot, kNoRoom };
  Told tell(JNIEnv* jni, std::uint32_t number, jclass klass, std::uint64_t method);
  bool define_name(std::uint32_t number, std::uint32_t loader, const classfile::ClassFile::Reference& callee,
                   bool is_static);
  void wait(std::uint32_t loader, std::uint64_t owner, std::uint32_t steps, WaitingCallees::Callee callee);
  void watch(std::uint32_t loader, WaitingCallees& waiting);
  void answer(JNIEnv* jni, std::uint64_t watch_key, std::uint64_t owner);
  void answer(JNIEnv* jni, std::uint32_t loader, std::uint64_t owner);
  bool tell_all(JNIEnv* jni, WaitingCallees& waiting, const ClassIndex::Found& found);
  void retry(JNIEnv* jni);

  AgentSession& session_;
  jrawMonitorID monitor_ = nullptr;  // over what follows; the registry's and the definitions' locks are taken in it
  bool is_on_ = false;
  Loaders loaders_;
  ClassIndex index_;
  std::vector<Retry> retries_;
};

}  // namespace jtrace::agent
