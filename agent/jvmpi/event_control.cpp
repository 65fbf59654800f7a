// EnableEvent, DisableEvent, and what each event needs of JVM TI.
#include "agent/jvmpi/bridge.h"
#include "agent/jvmpi/class_events.h"
#include "agent/jvmpi/gc_events.h"
#include "agent/jvmpi/heap_dump.h"
#include "agent/jvmpi/jni_references.h"
#include "agent/jvmpi/method_events.h"
#include "agent/jvmpi/monitor_dump.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr std::uint64_t kRequestOnly =
    bit_of(JVMPI_EVENT_HEAP_DUMP) | bit_of(JVMPI_EVENT_OBJECT_DUMP) | bit_of(JVMPI_EVENT_MONITOR_DUMP);
constexpr std::uint64_t kContended = bit_of(JVMPI_EVENT_MONITOR_CONTENDED_ENTER) |
                                     bit_of(JVMPI_EVENT_MONITOR_CONTENDED_ENTERED) |
                                     bit_of(JVMPI_EVENT_MONITOR_CONTENDED_EXIT);
constexpr std::uint64_t kWaits = bit_of(JVMPI_EVENT_MONITOR_WAIT) | bit_of(JVMPI_EVENT_MONITOR_WAITED);
constexpr std::uint64_t kCollections = bit_of(JVMPI_EVENT_GC_START) | bit_of(JVMPI_EVENT_GC_FINISH) | kFreeEvents;
constexpr std::uint64_t kDeliveredLater = kCollections | bit_of(JVMPI_EVENT_CLASS_UNLOAD);

// A JVM TI event is on while one of these JVMPI events is on.
struct Source {
  jvmtiEvent event;
  std::uint64_t wanted_by;
};
constexpr Source kSources[] = {
    {JVMTI_EVENT_CLASS_PREPARE, bit_of(JVMPI_EVENT_CLASS_LOAD) | bit_of(JVMPI_EVENT_CLASS_UNLOAD) | kMethodEvents},
    {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, kContended},
    {JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, kContended},
    {JVMTI_EVENT_MONITOR_WAIT, kWaits},
    {JVMTI_EVENT_MONITOR_WAITED, kWaits},
    {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, bit_of(JVMPI_EVENT_OBJECT_ALLOC)},
    {JVMTI_EVENT_VM_OBJECT_ALLOC, bit_of(JVMPI_EVENT_OBJECT_ALLOC)},
    {JVMTI_EVENT_COMPILED_METHOD_LOAD, bit_of(JVMPI_EVENT_COMPILED_METHOD_LOAD)},
    {JVMTI_EVENT_COMPILED_METHOD_UNLOAD, bit_of(JVMPI_EVENT_COMPILED_METHOD_UNLOAD)},
    {JVMTI_EVENT_DATA_DUMP_REQUEST, bit_of(JVMPI_EVENT_DATA_DUMP_REQUEST)},
    {JVMTI_EVENT_SINGLE_STEP, bit_of(JVMPI_EVENT_INSTRUCTION_START)},
    {JVMTI_EVENT_GARBAGE_COLLECTION_START, kCollections},
    {JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, kCollections},
    {JVMTI_EVENT_OBJECT_FREE, kFreeEvents | bit_of(JVMPI_EVENT_CLASS_UNLOAD)},
};

// The event numbers that JVMPI defines.
bool is_event(jint event) {
  return (event >= JVMPI_EVENT_METHOD_ENTRY && event <= JVMPI_EVENT_INSTRUCTION_START) ||
         (event >= JVMPI_EVENT_THREAD_START && event <= JVMPI_MAX_EVENT_TYPE_VAL && event != 36);
}

jvmtiCapabilities capabilities_of(jint event) {
  jvmtiCapabilities needed{};
  switch (event) {
    case JVMPI_EVENT_METHOD_ENTRY:
    case JVMPI_EVENT_METHOD_ENTRY2:
    case JVMPI_EVENT_METHOD_EXIT: needed.can_retransform_classes = needed.can_retransform_any_class = 1; break;
    case JVMPI_EVENT_OBJECT_ALLOC: needed.can_generate_vm_object_alloc_events = 1; break;
    case JVMPI_EVENT_OBJECT_FREE:
    case JVMPI_EVENT_OBJECT_MOVE:
      needed.can_generate_object_free_events = needed.can_generate_garbage_collection_events = 1;
      break;
    case JVMPI_EVENT_CLASS_UNLOAD: needed.can_generate_object_free_events = 1; break;
    case JVMPI_EVENT_COMPILED_METHOD_LOAD:
    case JVMPI_EVENT_COMPILED_METHOD_UNLOAD: needed.can_generate_compiled_method_load_events = 1; break;
    case JVMPI_EVENT_INSTRUCTION_START: needed.can_generate_single_step_events = 1; break;
    case JVMPI_EVENT_GC_START:
    case JVMPI_EVENT_GC_FINISH: needed.can_generate_garbage_collection_events = 1; break;
    default:
      if (((kContended | kWaits) & bit_of(event)) != 0) needed.can_generate_monitor_events = 1;
  }
  return needed;
}

}  // namespace

jint Bridge::enable(jint event) {
  if (!is_event(event) || (kRequestOnly & bit_of(event)) != 0) return JVMPI_NOT_AVAILABLE;
  if (wants(event)) return JVMPI_SUCCESS;
  if (!take(capabilities_of(event))) return JVMPI_NOT_AVAILABLE;
  JNIEnv* jni = current_env();
  if (is_live() && jni == nullptr) return JVMPI_FAIL;
  if (event == JVMPI_EVENT_OBJECT_ALLOC && !sample_every_object()) return JVMPI_NOT_AVAILABLE;
  if (event == JVMPI_EVENT_METHOD_ENTRY2) {
    methods->want_receivers();
    jvmtiCapabilities locals{};  // for the receivers of constructors; can be had only while the JVM starts
    locals.can_access_local_variables = 1;
    take(locals);
  }
  if (event == JVMPI_EVENT_CLASS_LOAD_HOOK && !open_hook()) return JVMPI_NOT_AVAILABLE;
  pthread_mutex_lock(&lock_);
  const std::uint64_t before = enabled_.fetch_or(bit_of(event));
  switch_events(before, before | bit_of(event));
  pthread_mutex_unlock(&lock_);
  // Java code and the profiler's code run outside the lock.
  if (!is_live() || install_for(event, jni)) return JVMPI_SUCCESS;
  disable(event);
  return JVMPI_FAIL;
}

jint Bridge::disable(jint event) {
  if (!is_event(event) || (kRequestOnly & bit_of(event)) != 0) return JVMPI_NOT_AVAILABLE;
  pthread_mutex_lock(&lock_);
  const std::uint64_t before = enabled_.fetch_and(~bit_of(event));
  switch_events(before, before & ~bit_of(event));
  pthread_mutex_unlock(&lock_);
  if ((kMethodEvents & bit_of(event)) != 0) methods->switch_callouts(current_env());
  if (!wants_any(kWaits)) methods->bind_sleep(current_env(), false);
  return JVMPI_SUCCESS;
}

void Bridge::switch_events(std::uint64_t before, std::uint64_t now) {
  if (before == now) return;
  for (const Source& source : kSources) {
    const bool was = (before & source.wanted_by) != 0;
    const bool is = (now & source.wanted_by) != 0;
    // A class that is linked after the callouts were inserted gets them at its ClassPrepare, whichever events are
    // enabled then.
    if (was == is || (!is && source.event == JVMTI_EVENT_CLASS_PREPARE && methods->installed())) continue;
    jvmti->SetEventNotificationMode(is ? JVMTI_ENABLE : JVMTI_DISABLE, source.event, nullptr);
  }
  const std::uint64_t hook = bit_of(JVMPI_EVENT_CLASS_LOAD_HOOK);
  if (hook_jvmti != nullptr && ((before ^ now) & hook) != 0)
    hook_jvmti->SetEventNotificationMode((now & hook) != 0 ? JVMTI_ENABLE : JVMTI_DISABLE,
                                         JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
}

// JDK 11 and later report every allocated object. Before, callouts follow the bytecodes that allocate.
bool Bridge::sample_every_object() {
  jvmtiCapabilities potential{};
  jvmti->GetPotentialCapabilities(&potential);
  jvmtiCapabilities wanted{};
  if (!has_capability(potential, kCanGenerateSampledObjectAllocEvents)) {
    wanted.can_retransform_classes = wanted.can_retransform_any_class = 1;
    methods->want_allocations();
    return take(wanted);
  }
  set_capability(wanted, kCanGenerateSampledObjectAllocEvents);
  return take(wanted) && jvmti->SetHeapSamplingInterval(0) == JVMTI_ERROR_NONE;
}

// What an event needs of a running JVM.
bool Bridge::install_for(jint event, JNIEnv* jni) {
  const std::uint64_t bit = bit_of(event);
  if ((kMethodEvents & bit) != 0 || (event == JVMPI_EVENT_OBJECT_ALLOC && methods->makes_allocations()))
    return methods->install(jni);
  if ((kDeliveredLater & bit) != 0) return gc->start_thread(jni);
  if ((kGlobalRefEvents & bit) != 0) return replace_reference_functions(*this);
  if ((kWaits & bit) != 0) methods->bind_sleep(jni, true);
  if (event == JVMPI_EVENT_CLASS_LOAD_HOOK) prepare_hook(jni);
  if (event == JVMPI_EVENT_COMPILED_METHOD_LOAD) jvmti->GenerateEvents(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  return true;
}

jint Bridge::request_dump(jint event, void* argument, JNIEnv* jni) {
  if (event == JVMPI_EVENT_MONITOR_DUMP) return send_monitor_dump(*this, jni);
  if (event == JVMPI_EVENT_OBJECT_DUMP) {
    jobject object = ids.object_of(static_cast<jobjectID>(argument));
    return object != nullptr && send_object_dump(*this, jni, object) ? JVMPI_SUCCESS : JVMPI_FAIL;
  }
  const auto* wanted = static_cast<const JVMPI_HeapDumpArg*>(argument);
  const jint level = wanted == nullptr ? JVMPI_DUMP_LEVEL_2 : wanted->heap_dump_level;
  if (level < JVMPI_DUMP_LEVEL_0 || level > JVMPI_DUMP_LEVEL_2) return JVMPI_FAIL;
  return send_heap_dump(*this, jni, level) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

}  // namespace jtrace::agent::jvmpi
