// CLASS_LOAD_HOOK: the profiler may replace the bytes of a class that is being loaded. StackMapTables, which JVMPI did
// not know, are corrected afterwards.
#include <cstdlib>

#include "agent/classfile/class_frames.h"
#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {
namespace {

void* allocate(unsigned int size) { return std::malloc(size); }

// No other class can be asked for before the JVM runs, or while the search for class files loads classes itself.
class NoHierarchy final : public classfile::ClassHierarchy {
 public:
  Answer super_of(std::string_view) override { return {}; }
};

bool complete(Bridge& bridge, JNIEnv* jni, jobject loader, const classfile::ClassFile& klass, classfile::Bytes& out) {
  classfile::FrameReport report;
  ThreadRecord* record = bridge.is_live() ? bridge.threads.find(jni) : nullptr;
  if (record == nullptr || record->asks_for_classes || bridge.loader_methods.loader == nullptr) {
    NoHierarchy none;
    return complete_frames(klass, none, report, out);
  }
  record->asks_for_classes = true;
  LoaderHierarchy hierarchy(bridge.jvmti, jni, bridge.loader_methods, loader);
  const bool completed = complete_frames(klass, hierarchy, report, out);
  record->asks_for_classes = false;
  return completed;
}

void JNICALL class_file_load_hook(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader, const char*, jobject,
                                  jint size, const unsigned char* data, jint* new_size, unsigned char** new_data) {
  Bridge* bridge = Bridge::get();
  if (bridge == nullptr || redefined != nullptr || !bridge->wants(JVMPI_EVENT_CLASS_LOAD_HOOK)) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_CLASS_LOAD_HOOK, jni);
  auto& hook = event.u.class_load_hook;
  hook.class_data = hook.new_class_data = const_cast<unsigned char*>(data);
  hook.class_data_len = hook.new_class_data_len = size;
  hook.malloc_f = allocate;
  bridge->notify(event);
  if (hook.new_class_data == data || hook.new_class_data == nullptr) return;
  if (hook.new_class_data_len > 0) {
    classfile::ByteView given{hook.new_class_data, static_cast<std::size_t>(hook.new_class_data_len)};
    classfile::ClassFile klass;
    classfile::Bytes completed;
    if (klass.parse(given) && complete(*bridge, jni, loader, klass, completed)) given = completed;
    if (jvmti->Allocate(static_cast<jlong>(given.size()), new_data) == JVMTI_ERROR_NONE) {
      std::memcpy(*new_data, given.data(), given.size());
      *new_size = static_cast<jint>(given.size());
    }
  }
  std::free(hook.new_class_data);
}

}  // namespace

// The classes that the search for class files uses are loaded in advance, because nothing can be asked about a class
// that is loaded during a search.
void Bridge::prepare_hook(JNIEnv* jni) {
  ThreadRecord* record = threads.find(jni);
  if (record == nullptr || loader_methods.loader != nullptr || !loader_methods.learn(jni)) return;
  record->asks_for_classes = true;
  LoaderHierarchy(jvmti, jni, loader_methods, nullptr).super_of("java/util/ArrayList");
  record->asks_for_classes = false;
}

// This is an environment of its own instead of a capability: without can_retransform_classes, so that the JVM keeps the
// profiler's changes when the class is retransformed.
bool Bridge::open_hook() {
  if (hook_jvmti != nullptr) return true;
  void* env = nullptr;
  if (vm->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) return false;
  hook_jvmti = static_cast<jvmtiEnv*>(env);
  jvmtiCapabilities potential{};
  hook_jvmti->GetPotentialCapabilities(&potential);
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = potential.can_generate_all_class_hook_events;
  hook_jvmti->AddCapabilities(&wanted);
  EventCallbacks callbacks;
  callbacks.set(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, class_file_load_hook);
  callbacks.give_to(hook_jvmti);
  return true;
}

}  // namespace jtrace::agent::jvmpi
