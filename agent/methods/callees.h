// Callees: the numbers that the probes of calls carry (classfile::CalleeNumbers): one for each method that the classes
// of a loader name. A number is defined before its probe can run: as what it stands for, the method that the JVM would
// find; where its class is not linked yet, by its name alone, and once more when it is.
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
#include "agent/methods/id_map.h"

namespace jtrace::agent {

class Callees {
 public:
  explicit Callees(AgentSession& session) : session_(session), index_(session) {}
  Callees(const Callees&) = delete;
  Callees& operator=(const Callees&) = delete;

  // nullptr, or why there are none (static text).
  const char* start(JNIEnv* jni);
  void stop(JNIEnv* jni);

  // Of a callee that a class of the loader names; 0 where there is no room for its definition.
  std::uint32_t number(JNIEnv* jni, jobject loader, const classfile::ClassFile::Reference& callee, bool is_static);
  void class_prepared(JNIEnv* jni, jclass klass);

 private:
  struct Unsure {  // what a class that is still to be linked may be a better answer to
    std::uint64_t owner;
    std::uint64_t method;
    std::uint32_t number;
    std::uint32_t loader;  // in loaders_
    std::uint32_t next;    // of the same owner; as in by_owner_
  };
  struct Meaning {
    std::uint64_t method = 0;  // methodId; 0: not known
    bool is_sure = false;
  };
  std::uint32_t index_of(JNIEnv* jni, jobject loader);
  Meaning find(JNIEnv* jni, jobject loader, std::uint64_t owner, std::uint64_t method);
  bool define(std::uint32_t number, std::uint64_t method);
  bool define_name(std::uint32_t number, const classfile::ClassFile::Reference& callee, bool is_static);

  AgentSession& session_;
  jrawMonitorID monitor_ = nullptr;  // over what follows; the registry's and the definitions' locks are taken in it
  bool is_on_ = false;
  ClassIndex index_;
  std::vector<jweak> loaders_;  // [0]: the boot loader, nullptr
  IdMap numbers_;               // loader, owner and method -> number
  std::vector<Unsure> unsure_;
  IdMap by_owner_;  // -> place in unsure_ + 1
  IdMap named_;     // owner -> id of the class that stands for it
};

}  // namespace jtrace::agent
