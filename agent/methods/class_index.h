// ClassIndex: the linked classes by loader and name, and their methods by name and descriptor. It resolves symbolic
// references (JVMS 5.4.3) as far as that is possible without loading or running anything. Names are hashes
// (name_hash.h).
//
// Threads: under its owner's lock, which may be held during JVM TI calls.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "agent/methods/id_map.h"
#include "agent/methods/loaders.h"

namespace jtrace::agent {

class Registry;

class ClassIndex {
 public:
  ClassIndex(jvmtiEnv* jvmti, Registry& registry, Loaders& loaders)
      : jvmti_(jvmti), registry_(registry), loaders_(loaders) {}
  ClassIndex(const ClassIndex&) = delete;
  ClassIndex& operator=(const ClassIndex&) = delete;

  // Adds all classes that are linked now. nullptr, or the reason why not (static text). Classes that are linked later
  // are added by add().
  const char* learn(JNIEnv* jni);
  struct Added {
    std::uint32_t loader = Loaders::kNone;  // index of the defining loader
    std::uint64_t name = 0;
  };
  // kNone if it cannot be known.
  Added add(JNIEnv* jni, jclass klass);

  struct Found {
    jclass klass = nullptr;      // a local reference
    std::uint32_t steps = kNot;  // from the loader to the parent that defined it; 0: the loader itself
  };
  static constexpr std::uint32_t kNot = 0xffffffff;    // there is none
  static constexpr std::uint32_t kOnlyOne = kNot - 1;  // no parent defined it, and only one other loader did
  // The class to which the name refers in a loader: its own, otherwise the nearest parent's, otherwise the only one.
  Found find(JNIEnv* jni, std::uint32_t loader, std::uint64_t name);
  // The method to which a reference to the class refers: the class's own, a superclass's, a superinterface's. nullptr
  // if there is none.
  jmethodID find_method(JNIEnv* jni, jclass klass, std::uint64_t method);
  // True if find_method() has skipped a class because there was no room for its definition.
  bool lacked_room() const { return lacked_room_; }

 private:
  using Look = jmethodID (ClassIndex::*)(JNIEnv*, jclass, std::uint64_t);
  jmethodID find_upwards(JNIEnv* jni, jclass klass, std::uint64_t method, Look look);
  jmethodID find_in_object(JNIEnv* jni, std::uint64_t method);
  jmethodID find_declared(JNIEnv* jni, jclass klass, std::uint64_t method);
  jmethodID find_in_interfaces(JNIEnv* jni, jclass klass, std::uint64_t method);
  void list_methods(jclass klass, std::uint64_t class_id);

  jvmtiEnv* jvmti_;
  Registry& registry_;
  Loaders& loaders_;
  std::vector<jmethodID> methods_;  // of the classes that were asked for recently
  IdMap by_method_;                 // classId and method -> place in methods_ + 1
  IdMap listed_;                    // classId
  bool lacked_room_ = false;
};

}  // namespace jtrace::agent
