// ClassIndex: the linked classes by name and their methods by name and descriptor: what a symbolic reference stands for
// (JVMS 5.4.3), as far as it can be known without loading or running anything. Names are hashes (name_hash.h).
//
// Classes are held weakly. Threads: under its owner's lock, which may be held over JVM TI calls.
#pragma once

#include <jni.h>

#include <cstdint>
#include <vector>

#include "agent/methods/id_map.h"

namespace jtrace::agent {

class AgentSession;

class ClassIndex {
 public:
  explicit ClassIndex(AgentSession& session) : session_(session) {}
  ClassIndex(const ClassIndex&) = delete;
  ClassIndex& operator=(const ClassIndex&) = delete;

  // What is linked now. nullptr, or why not (static text). What is linked later comes by add().
  const char* learn(JNIEnv* jni);
  void add(JNIEnv* jni, jclass klass);
  void clear(JNIEnv* jni);

  struct Found {
    jclass klass = nullptr;  // a local reference
    bool is_sure = false;    // the loader has defined it itself
  };
  // The class that the loader (nullptr: the boot loader) means by the name: its own, else that of the nearest of its
  // parents, else the only one of that name.
  Found find(JNIEnv* jni, jobject loader, std::uint64_t name);
  // The method that a reference to the class means: its own, of its superclasses, of its superinterfaces. nullptr:
  // none.
  jmethodID find_method(JNIEnv* jni, jclass klass, std::uint64_t method);

 private:
  struct Class {
    jweak klass;
    std::uint32_t next;  // of the same name; as in by_name_
  };
  int distance(JNIEnv* jni, jobject loader, jobject defining) const;
  jmethodID find_declared(JNIEnv* jni, jclass klass, std::uint64_t method);
  jmethodID find_in_interfaces(JNIEnv* jni, jclass klass, std::uint64_t method);
  void list_methods(jclass klass, std::uint64_t class_id);

  AgentSession& session_;
  jfieldID parent_ = nullptr;  // ClassLoader.parent
  std::vector<Class> classes_;
  IdMap by_name_;                   // name -> place in classes_ + 1
  std::vector<jmethodID> methods_;  // of the classes that were asked for
  IdMap by_method_;                 // classId and method -> place in methods_ + 1
  IdMap listed_;                    // classId
};

}  // namespace jtrace::agent
