#include "agent/event_needs.h"

#include "agent/jvm_support.h"
#include "agent/waits/wait_kinds.h"
#include "trace/record/event_words.h"

namespace jtrace::agent {
namespace {

// An event of trace.dtd, what it needs of JVM TI, and the JVM TI events that make it.
struct EventNeed {
  std::uint64_t bits;     // EventBit, any of
  std::string_view name;  // for the message if it cannot be had
  int capability;         // bit of jvmtiCapabilities, -1: none
  int events[2];          // JVM TI events, 0: none
  std::string_view capability_name = "";
};

// Bits of jvmtiCapabilities as jvmti.xml numbers them (the order of the fields in jvmti.h since JDK 5).
constexpr int kCanTagObjects = 0;
constexpr int kCanGetSourceFileName = 11;
constexpr int kCanGetLineNumbers = 12;
constexpr int kCanGetMonitorInfo = 7;
constexpr int kCanGenerateMonitorEvents = 28;
constexpr int kCanGenerateVmObjectAllocEvents = 29;
constexpr int kCanGenerateGarbageCollectionEvents = 31;
constexpr int kCanGenerateObjectFreeEvents = 32;
constexpr int kCanGetConstantPool = 35;
constexpr int kCanRetransformClasses = 37;

constexpr std::uint64_t kVirtual = record::kVirtualThreadEvent;
constexpr EventNeed kNeeds[] = {
    {record::kThreadStartEvent, "threadStart", -1, {JVMTI_EVENT_THREAD_START, 0}},
    {record::kThreadEndEvent, "threadEnd", -1, {JVMTI_EVENT_THREAD_END, 0}},
    {kVirtual,
     "virtual threads",
     kCanSupportVirtualThreads,
     {kEventVirtualThreadStart, kEventVirtualThreadEnd},
     "can_support_virtual_threads"},
    {record::kClassDefEvent, "classDef", -1, {JVMTI_EVENT_CLASS_PREPARE, 0}},
    {record::kClassUnloadEvent | record::kObjFreeEvent,
     "classUnload and objFree",
     kCanGenerateObjectFreeEvents,
     {JVMTI_EVENT_OBJECT_FREE, 0},
     "can_generate_object_free_events"},
    {record::kGcEvent,
     "gcStart and gcFinish",
     kCanGenerateGarbageCollectionEvents,
     {JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH},
     "can_generate_garbage_collection_events"},
    {record::kMonWaitEvent,
     "monWait",
     kCanGenerateMonitorEvents,
     {JVMTI_EVENT_MONITOR_WAIT, 0},
     "can_generate_monitor_events"},
    {record::kMonWaitedEvent,
     "monWaited",
     kCanGenerateMonitorEvents,
     {JVMTI_EVENT_MONITOR_WAITED, 0},
     "can_generate_monitor_events"},
    {record::kMonContendedEnterEvent,
     "monContendedEnter",
     kCanGenerateMonitorEvents,
     {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, 0},
     "can_generate_monitor_events"},
    {record::kMonContendedEnteredEvent,
     "monContendedEntered",
     kCanGenerateMonitorEvents,
     {JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, 0},
     "can_generate_monitor_events"},
    {record::kCalloutEvents,
     record::kCalloutGroupsAnd.view(),
     kCanRetransformClasses,
     {JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK},  // reports the classes that the hook rewrote
     "can_retransform_classes"},
    // The classes of the JDK that WaitTracer rewrites make them.
    {kWaitEvents, kWaitNames.view(), kCanRetransformClasses, {0, 0}, "can_retransform_classes"},
    {record::kObjAllocEvent,
     record::element_of(record::kObjAllocEvent),
     kCanGenerateSampledObjectAllocEvents,
     {JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, 0},
     "can_generate_sampled_object_alloc_events"},
};

// These need no row: the JVM always reports its start and end, and jtrace itself observes standstills.
constexpr std::uint64_t kWithoutNeeds =
    record::kRuntimeInitDoneEvent | record::kRuntimeShutdownEvent | record::kStandstillEvent;
static_assert(
    [] {
      std::uint64_t bits = kWithoutNeeds;
      for (const EventNeed& need : kNeeds) bits |= need.bits;
      return bits == record::kAllEvents;
    }(),
    "an event of events.def has no row in kNeeds: it would never be switched on");
static_assert(
    [] {
      for (const EventNeed& need : kNeeds)
        if (need.events[0] == 0 && (need.bits & ~kWaitEvents) != 0) return false;
      return true;
    }(),
    "a row of kNeeds has no JVM TI event, and its event no row in kWaitKinds (wait_kinds.h): nothing would make it");

}  // namespace

const char* take_capabilities(jvmtiEnv* jvmti, const Config& config, std::uint64_t& granted,
                              std::vector<NotOffered>& missing) {
  jvmtiCapabilities potential{};
  jvmtiCapabilities wanted{};
  if (jvmti->GetPotentialCapabilities(&potential) != JVMTI_ERROR_NONE)
    return "the JVM does not report its capabilities";
  const auto want = [&](unsigned bit) {
    if (!has_capability(potential, bit)) return false;
    set_capability(wanted, bit);
    return true;
  };
  if (!want(kCanTagObjects)) return "the JVM grants no object tags (can_tag_objects)";
  want(kCanGetSourceFileName);
  want(kCanGetLineNumbers);
  if (config.wants(record::kCalloutEvents)) want(kCanGetConstantPool);
  if (config.wants(record::kMonContendedEnterEvent) && !want(kCanGetMonitorInfo) &&
      config.has_flag(record::kMonitorOwner))
    missing.push_back({"threadOwner", kCanGetMonitorInfo, "can_get_monitor_info"});
  granted = config.events;
  for (const EventNeed& need : kNeeds) {
    if (!config.wants(need.bits) || need.capability < 0) continue;
    if (want(static_cast<unsigned>(need.capability))) continue;
    granted &= ~need.bits;
    missing.push_back({need.name, static_cast<unsigned>(need.capability), need.capability_name});
  }
  if ((granted & record::kObjAllocEvent) != 0 && config.sample_interval == 0) want(kCanGenerateVmObjectAllocEvents);
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE ? nullptr
                                                             : "the JVM refused the capabilities it had offered";
}

std::vector<int> events_of(const Config& config, std::uint64_t granted) {
  std::vector<int> made;
  for (const EventNeed& need : kNeeds)
    for (int event : need.events)
      if ((granted & need.bits) != 0 && event != 0) made.push_back(event);
  if ((granted & record::kObjAllocEvent) != 0 && config.sample_interval == 0)
    made.push_back(JVMTI_EVENT_VM_OBJECT_ALLOC);
  made.push_back(JVMTI_EVENT_VM_DEATH);
  return made;
}

void switch_events(jvmtiEnv* jvmti, const Config& config, std::uint64_t granted, bool on) {
  for (int event : events_of(config, granted))
    jvmti->SetEventNotificationMode(on ? JVMTI_ENABLE : JVMTI_DISABLE, static_cast<jvmtiEvent>(event), nullptr);
}

}  // namespace jtrace::agent
