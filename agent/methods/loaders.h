// Loaders: the class loaders, each with what is known by it: the classes that it defined, and the callees that its
// classes name. All of it is dropped with the loader. For each new loader two entries are checked, so unloaded ones
// never far outnumber the live ones, and no check takes long.
//
// Loaders and classes are held weakly. Threads: under its owner's lock, which may be held during JNI and JVM TI calls.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <vector>

#include "agent/methods/id_map.h"
#include "agent/methods/name_hash.h"
#include "agent/methods/number_lists.h"

namespace jtrace::agent {

// Callees of one owner for which a class that is not linked yet may be a better answer.
struct WaitingCallees {
  struct Callee {
    std::uint64_t method;
    std::uint32_t number;
  };
  std::uint64_t owner = 0;
  std::uint32_t steps = 0;  // of the answer that they have (ClassIndex::Found)
  std::uint32_t tried_steps = 0;
  std::uint32_t defined = 0;  // number of callees that were redefined with the answer that is tried_steps away
  std::vector<Callee> callees;
  std::vector<std::uint32_t> watches;  // nodes of Loaders::watches
};

struct Loader {
  struct Class {
    jweak klass = nullptr;
    std::uint32_t node = 0;  // in Loaders::by_name
  };
  jweak reference = nullptr;  // nullptr: the boot loader, or a free entry
  std::uint64_t serial = 0;   // never used for another loader
  std::uint32_t node = 0;     // in the list of its identity hash
  std::uint32_t parent = 0;   // its index; the parent lives as long
  MapById<Class> classes;     // by name
  std::size_t classes_limit = 64;
  IdMap numbers;                 // owner and method -> number of a callee
  MapById<std::uint64_t> named;  // owner -> id of the class that represents it
  std::vector<WaitingCallees> waiting;
  IdMap waiting_for;  // owner -> place in waiting + 1
};

class Loaders {
 public:
  explicit Loaders(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  Loaders(const Loaders&) = delete;
  Loaders& operator=(const Loaders&) = delete;

  static constexpr std::uint32_t kBoot = 0;
  static constexpr std::uint32_t kNone = 0xffffffff;

  // False if java.lang.ClassLoader has an unknown form.
  bool start(JNIEnv* jni);
  void clear(JNIEnv* jni);

  // The index of a loader (nullptr: the boot loader), added if it is new; kNone if the JVM has no memory left.
  // References to Loader are valid until the next call.
  std::uint32_t place_of(JNIEnv* jni, jobject loader);
  Loader& operator[](std::uint32_t place) { return all_[place]; }
  bool is_gone(JNIEnv* jni, std::uint32_t place) const {
    return place != kBoot && jni->IsSameObject(all_[place].reference, nullptr) != JNI_FALSE;
  }
  std::uint32_t parent_of(std::uint32_t place) const { return place == kBoot ? kNone : all_[place].parent; }

  void add_class(JNIEnv* jni, std::uint32_t place, std::uint64_t name, jclass klass);
  // A local reference; nullptr if the loader has defined none of that name.
  jclass find_class(JNIEnv* jni, std::uint32_t place, std::uint64_t name);
  // The only class of that name, whichever loader defined it; nullptr if there is none, or more than one.
  jclass only_class(JNIEnv* jni, std::uint64_t name);

  // The key under which a loader with WaitingCallees is found when such a class is linked: a class of that loader and
  // name, which may be a better answer; or of that name in any loader, if there is no answer yet.
  std::uint64_t watch_key(std::uint32_t place, std::uint64_t name) const { return hash_in(all_[place].serial, name); }
  static std::uint64_t watch_key(std::uint64_t name) { return hash_in(0, name); }
  NumberLists watches;
  // nullptr if none wait for that owner.
  WaitingCallees* find_waiting(std::uint32_t place, std::uint64_t owner);
  WaitingCallees& add_waiting(std::uint32_t place, std::uint64_t owner);
  void drop_waiting(std::uint32_t place, std::uint64_t owner);
  void drop_watches(WaitingCallees& waiting);

 private:
  static constexpr int kMostParents = 64;
  std::uint32_t place_of(JNIEnv* jni, jobject loader, int depth);
  std::uint32_t add(JNIEnv* jni, jobject loader, std::uint64_t hash, std::uint32_t parent);
  void sweep(JNIEnv* jni);
  void sweep_classes(JNIEnv* jni, Loader& loader);
  void drop(JNIEnv* jni, Loader& loader);
  void drop_class(JNIEnv* jni, const Loader::Class& klass);

  jvmtiEnv* jvmti_;
  jfieldID parent_ = nullptr;  // ClassLoader.parent
  std::vector<Loader> all_;    // [0]: the boot loader
  std::vector<std::uint32_t> free_;
  NumberLists by_hash_;  // identity hash + 1 -> index
  NumberLists by_name_;  // name of a class -> indexes of the loaders that have defined one
  std::uint64_t next_serial_ = 1;
  std::uint32_t cursor_ = 0;  // of sweep()
};

}  // namespace jtrace::agent
