// Registry: ids of classes, methods, objects and stacks, and their definitions.
//
// An object's id is its JVM TI tag (tag = id << 2 | flags), so it survives moving and reuse of memory. A class is
// identified by the tag of its mirror. The first reference to a thing writes its definition and only then sets the tag,
// both under one raw monitor, so no thread can refer to what is not yet defined. Methods are kept in a table by
// jmethodID.
//
// Where a definition finds no room, the thing stays undefined, 0 is returned, and the event that wanted it is dropped
// by the caller and counted. Threads: any that may call JVM TI and JNI. None of this is called in GC or ObjectFree
// callbacks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/config.h"
#include "agent/definition_stream.h"
#include "agent/jvm_support.h"
#include "agent/producer.h"
#include "agent/stack_looks.h"

namespace jtrace::agent {

inline constexpr jlong kTagIsClass = 1;    // the mirror of a class that has a definition
inline constexpr jlong kTagIsObject = 2;   // defined as an object (objDef, objAlloc)
inline constexpr jlong kTagWasThrown = 4;  // an exception of which there is a record
inline constexpr int kTagFlagBits = 3;
// A tag is an id (classId, objId) and flags that say what was defined under it; 0: none.
constexpr std::uint64_t id_of_tag(jlong tag) { return static_cast<std::uint64_t>(tag) >> kTagFlagBits; }
constexpr jlong make_tag(std::uint64_t id, jlong flags) { return static_cast<jlong>(id << kTagFlagBits) | flags; }

class MethodTracer;

// What the registry needs from the callouts: methods/ is above it and sets these.
struct CalloutHooks {
  // The number that a method has for its callouts, 0: none.
  std::uint32_t (*find_number)(MethodTracer& tracer, std::uint64_t class_id, std::string_view name,
                               std::string_view descriptor);
  void (*keep_number)(MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor,
                      std::uint64_t id);
  // Called between steps of long work: puts callouts into the classes that threads wait for.
  void (*rewrite_urgent)(MethodTracer& tracer, JNIEnv* jni);
};

// An array's type code in trace.dtd: 0 no array, 2 objects, 4..11 primitives (JVMPI's data type codes).
struct TypeOfObject {
  std::uint8_t is_array = 0;
  std::uint64_t class_id = 0;  // of the object, or of the elements where is_array is 2
  bool known = false;
  bool included = true;  // by the filters
};

class Registry {
 public:
  // `monitor` is the registry's alone; the rest is the session's.
  Registry(jvmtiEnv* jvmti, jrawMonitorID monitor, DefinitionStream& definitions, const PoolWriter& writer,
           StackLooks& looks, FilterBlock filters)
      : jvmti_(jvmti),
        monitor_(monitor),
        definitions_(definitions),
        writer_(writer),
        looks_(looks),
        filters_(static_cast<FilterBlock&&>(filters)) {}

  // The id of a class, defined at the first call. `cause`: threadId that made it known.
  std::uint64_t class_id(JNIEnv* jni, jclass klass, std::uint64_t cause, bool loaded_before);
  std::uint64_t method_id(JNIEnv* jni, jmethodID method);
  // A new id for a class that is known by its internal name only; 0 if there is no room for its definition.
  std::uint64_t define_named_class(std::string_view name);
  // The id of an object that exists already (monitors), defined by objDef at the first call.
  std::uint64_t object_id(JNIEnv* jni, jobject object);
  // A new id for an object that was just allocated, tagged; 0 if the object has one already.
  std::uint64_t new_object_id(jobject object);
  TypeOfObject type_of(JNIEnv* jni, jclass klass);
  // Whether object_id() or new_object_id() has given it one.
  bool is_known(jobject object) { return (tag_of(object) & kTagIsObject) != 0; }
  // An exception that has an id: there is a record of it now.
  void note_thrown(jobject thrown);
  bool was_thrown(jobject thrown) { return (tag_of(thrown) & kTagWasThrown) != 0; }
  // The id of the stack of the calling thread, which is `thread`, without the `skip` innermost frames; 0 if there is
  // none.
  std::uint64_t stack_id(JNIEnv* jni, jthread thread, jint skip, jint depth);
  // The same up to the first frame that is not a constructor's.
  std::uint64_t constructors_id(JNIEnv* jni, jthread thread, jint skip);

  bool class_is_included(JNIEnv* jni, jclass klass);
  // The same by internal name.
  bool includes_class(std::string_view name);
  bool includes_method(std::string_view class_name, std::string_view method_name);
  // The first of `count` methodIds that are not in use, in this session or another: callouts carry them, and some may
  // still run when the next session has begun.
  static std::uint32_t next_method_ids(std::uint32_t count);
  void set_filters(FilterBlock filters);
  // `hooks` live as long as the library; `tracer` null: there are no callouts.
  void set_callout_hooks(const CalloutHooks& hooks, MethodTracer* tracer) {
    callouts_ = &hooks;
    tracer_ = tracer;
  }
  void define_loaded_classes(JNIEnv* jni);

 private:
  std::uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  jlong tag_of(jobject object);
  bool define_class(JNIEnv* jni, jclass klass, std::uint64_t id, std::uint64_t cause, bool loaded_before);
  bool define_method(JNIEnv* jni, jmethodID method, std::uint64_t id);
  std::uint64_t number_of_callouts(JNIEnv* jni, jmethodID method);
  struct MethodEntry {
    jmethodID method;
    std::uint64_t id;
  };
  MethodEntry* method_slot(jmethodID method);
  void grow_methods();
  static jclass component_type(JNIEnv* jni, jclass array_class);
  jint line_of(jmethodID method, jlocation location);
  std::uint64_t define_stack(JNIEnv* jni, const jvmtiFrameInfo* frames, jint count);
  bool is_constructor(jmethodID method);

  jvmtiEnv* jvmti_;
  jrawMonitorID monitor_;
  DefinitionStream& definitions_;
  const PoolWriter& writer_;
  StackLooks& looks_;
  FilterBlock filters_;  // under the monitor
  const CalloutHooks* callouts_ = nullptr;
  MethodTracer* tracer_ = nullptr;
  std::atomic<std::uint64_t> next_id_{1};
  std::vector<MethodEntry> methods_;  // open addressing, size a power of two
  std::size_t method_count_ = 0;
  static constexpr std::uint32_t kKnownStacks = 4096;
  std::atomic<std::uint64_t> known_stacks_[kKnownStacks] = {};  // direct mapped, as those of ThreadIds
};

}  // namespace jtrace::agent
