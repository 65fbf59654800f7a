// CLASS_LOAD_HOOK: the profiler may replace the bytes of a class that is being loaded.
#include <cstdlib>

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {
namespace {

void* allocate(unsigned int size) { return std::malloc(size); }

void JNICALL class_file_load_hook(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject, const char*, jobject,
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
  if (hook.new_class_data_len > 0 && jvmti->Allocate(hook.new_class_data_len, new_data) == JVMTI_ERROR_NONE) {
    std::memcpy(*new_data, hook.new_class_data, static_cast<std::size_t>(hook.new_class_data_len));
    *new_size = hook.new_class_data_len;
  }
  std::free(hook.new_class_data);
}

}  // namespace

// Not a capability but an environment of its own: without can_retransform_classes, so that the JVM keeps what the
// profiler changed when the class is retransformed.
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
  hook_jvmti->SetEventCallbacks(reinterpret_cast<const jvmtiEventCallbacks*>(&callbacks), sizeof callbacks);
  return true;
}

}  // namespace jtrace::agent::jvmpi
