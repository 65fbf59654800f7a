#include "agent/agent_session.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "agent/callbacks.h"
#include "agent/control_thread.h"
#include "agent/jvm_fitness.h"
#include "agent/lasting_environment.h"
#include "agent/methods/method_tracer.h"
#include "agent/registry.h"
#include "agent/retired_pools.h"
#include "agent/waits/wait_tracer.h"
#include "base/clock.h"
#include "trace/option_keys.h"
#include "trace/vm_threads.h"

namespace jtrace::agent {
namespace {

constinit std::atomic<AgentSession*> g_session{nullptr};
constinit std::atomic<std::uint32_t> g_generation{0};
constinit std::atomic<bool> g_leaked{false};

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
    {record::kProbeEvents,
     "methods, lines, exceptions and allocations",
     kCanRetransformClasses,
     {JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK},  // reports the classes that the hook rewrote
     "can_retransform_classes"},
    // Its events are the class's own (WaitTracer).
    {record::kSleepEvent | record::kParkEvent,
     "Thread.sleep and LockSupport.park",
     kCanRetransformClasses,
     {0, 0},
     "can_retransform_classes"},
    {record::kObjAllocEvent,
     "objAlloc",
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

// The kernel's name of the calling thread (prctl(2), PR_GET_NAME: 16 bytes with the NUL); returns its length.
std::size_t thread_comm(char* name, std::size_t size) {
  if (size < 16 || prctl(PR_GET_NAME, name, 0, 0, 0) != 0) return 0;
  return std::strlen(name);
}

std::uint32_t slot_of(std::uint64_t thread) { return static_cast<std::uint32_t>(thread); }

}  // namespace

std::atomic<AgentSession*>& AgentSession::current() { return g_session; }
std::atomic<bool>& AgentSession::has_leaked() { return g_leaked; }

const char* AgentSession::map_pool(int fd) {
  record::PoolHeader header;
  if (pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return "the pool cannot be read";
  if (std::memcmp(header.magic, record::kPoolMagic, sizeof header.magic) != 0 ||
      header.layout_version != record::kLayoutVersion)
    return "the pool has another layout than this agent's";
  pool_size = header.pool_size;
  void* base = mmap(nullptr, pool_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return "the pool cannot be mapped";
  // A child of the JVM must not write into the pool.
  madvise(base, pool_size, MADV_DONTFORK);
  writer.pool = record::Pool(base);
  writer.policy.block = config.has_flag(record::kBlockWhenFull);
  writer.policy.block_limit_ns = static_cast<std::uint64_t>(config.block_limit_ms) * 1'000'000;
  writer.one_slot_probes = !config.has_flag(record::kReceivers) && !config.has_flag(record::kCpuTime) &&
                           (config.events & record::kCallEvent) == 0;
  writer.generation = g_generation.fetch_add(1) + 1;
  return nullptr;
}

AgentSession::AgentSession(JavaVM* java_vm, UniqueFd socket)
    : vm(java_vm), control(static_cast<UniqueFd&&>(socket)), definitions(writer) {}

AgentSession::~AgentSession() = default;

void AgentSession::write_option(std::string_view key, std::string_view value) {
  Definition definition(0, record::OptionFields{.key = key, .value = value});
  definitions.append(definition);
}

void AgentSession::report_missing(std::string_view what, std::string_view why) {
  ByteBuffer text;
  for (const std::string_view part : {what, std::string_view(": "), why}) text.put_bytes(part.data(), part.size());
  write_option(trace::kUnavailableKey, text.view());
  if (left_out_.size() != 0) left_out_.put_bytes("; ", 2);
  left_out_.put_bytes(text.data(), text.size());
}

void AgentSession::report_not_offered(std::string_view what, unsigned capability, std::string_view name) {
  ByteBuffer why;
  for (const std::string_view part :
       {name, std::string_view(": "), why_not_offered(capability, jvmti, !started_with_vm)})
    why.put_bytes(part.data(), part.size());
  report_missing(what, why.view());
}

const char* AgentSession::take_capabilities() {
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
  if (config.wants(record::kProbeEvents)) want(kCanGetConstantPool);
  if (config.wants(record::kMonContendedEnterEvent) && !want(kCanGetMonitorInfo) &&
      config.has_flag(record::kMonitorOwner))
    report_not_offered("threadOwner", kCanGetMonitorInfo, "can_get_monitor_info");
  granted_events = config.events;
  for (const EventNeed& need : kNeeds) {
    if (!config.wants(need.bits) || need.capability < 0) continue;
    if (want(static_cast<unsigned>(need.capability))) continue;
    granted_events &= ~need.bits;
    report_not_offered(need.name, static_cast<unsigned>(need.capability), need.capability_name);
  }
  if ((granted_events & record::kObjAllocEvent) != 0 && config.sample_interval == 0)
    want(kCanGenerateVmObjectAllocEvents);
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE ? nullptr
                                                             : "the JVM refused the capabilities it had offered";
}

void AgentSession::set_callbacks() {
  EventCallbacks callbacks;
  install_callbacks(callbacks);
  jvmti->SetEventCallbacks(reinterpret_cast<const jvmtiEventCallbacks*>(&callbacks), sizeof callbacks);
}

void AgentSession::switch_events(bool on) {
  const jvmtiEventMode mode = on ? JVMTI_ENABLE : JVMTI_DISABLE;
  for (const EventNeed& need : kNeeds) {
    if ((granted_events & need.bits) == 0) continue;
    for (int event : need.events)
      if (event != 0) jvmti->SetEventNotificationMode(mode, static_cast<jvmtiEvent>(event), nullptr);
  }
  if ((granted_events & record::kObjAllocEvent) != 0 && config.sample_interval == 0)
    jvmti->SetEventNotificationMode(mode, JVMTI_EVENT_VM_OBJECT_ALLOC, nullptr);
  jvmti->SetEventNotificationMode(mode, JVMTI_EVENT_VM_DEATH, nullptr);
}

const char* AgentSession::start(UniqueFd pool, bool live) {
  started_with_vm = !live;
  if (const char* error = map_pool(pool.get())) return error;
  pool_descriptor_ = static_cast<UniqueFd&&>(pool);
  void* env = nullptr;
  const jint has_jvmti = vm->GetEnv(&env, JVMTI_VERSION_1_2);
  if (has_jvmti == JNI_EDETACHED) return "this JVM is still starting, or ending: attach again when it is up";
  if (has_jvmti != JNI_OK) return "this JVM has no JVM TI 1.2";
  jvmti = static_cast<jvmtiEnv*>(env);
  if (!keep_an_environment(vm)) return "the JVM gives no second environment of JVM TI";
  if (const char* error = unfit_jvm(jvmti)) return error;
  looks.start(jvmti);
  if (const char* error = take_capabilities()) return error;
  jrawMonitorID monitor = nullptr;
  if (jvmti->CreateRawMonitor("jtrace registry", &monitor) != JVMTI_ERROR_NONE) return "the JVM gave no raw monitor";
  registry = std::make_unique<Registry>(*this, monitor);
  wakeup.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup) return "no event descriptor is left in this process";
  set_callbacks();
  if (!live) {
    jvmti->SetEnvironmentLocalStorage(this);
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  }
  writer.pool.header().agent_state.store(static_cast<std::uint32_t>(record::AgentState::kStarting));
  return nullptr;
}

const char* AgentSession::make_own_thread(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  jmethodID constructor = jni->GetMethodID(thread_class, "<init>", "(Ljava/lang/String;)V");
  jstring name = jni->NewStringUTF("jtrace agent");
  jobject thread =
      constructor == nullptr || name == nullptr ? nullptr : jni->NewObject(thread_class, constructor, name);
  if (jni->ExceptionCheck() || thread == nullptr) {
    jni->ExceptionClear();
    return "the agent's thread could not be made";
  }
  own_thread_id = static_cast<std::uint64_t>(jni->GetLongField(thread, thread_tid));
  own_thread = jni->NewGlobalRef(thread);
  return own_thread == nullptr ? "the agent's thread could not be made" : nullptr;
}

const char* AgentSession::go_live(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  jclass thread_local_class = jni->FindClass("java/lang/Thread");
  thread_tid = thread_local_class == nullptr ? nullptr : jni->GetFieldID(thread_local_class, "tid", "J");
  if (thread_tid == nullptr) {
    jni->ExceptionClear();
    return "java.lang.Thread has no field tid in this JVM";
  }
  thread_class = static_cast<jclass>(jni->NewGlobalRef(thread_local_class));
  if (jclass string = jni->FindClass("java/lang/String")) string_class = static_cast<jclass>(jni->NewGlobalRef(string));
  // JDK 21 and later (java/lang/BaseVirtualThread.java); earlier JDKs have no virtual threads.
  if (jclass base = jni->FindClass("java/lang/BaseVirtualThread"))
    virtual_thread_class = static_cast<jclass>(jni->NewGlobalRef(base));
  else jni->ExceptionClear();
  if (const char* error = make_own_thread(jni)) return error;
  if ((granted_events & record::kObjAllocEvent) != 0)
    jvmti->SetHeapSamplingInterval(static_cast<jint>(config.sample_interval));
  prepare_methods(jni);
  prepare_waits(jni);
  writer.pool.header().agent_state.store(static_cast<std::uint32_t>(record::AgentState::kTracing));
  current().store(this, std::memory_order_seq_cst);
  switch_events(true);
  backfill_threads(jni);
  return run_control_thread(*this) ? nullptr : "the agent's thread could not be started";
}

// If probes cannot be had, the trace goes on without them, with a note.
void AgentSession::prepare_methods(JNIEnv* jni) {
  if ((granted_events & record::kProbeEvents) != 0) {
    methods = std::make_unique<MethodTracer>(*this);
    if (const char* error = methods->prepare(jni, pool_descriptor_.get())) {
      report_missing("methods, calls, lines, exceptions and allocations", error);
      methods.reset();
      granted_events &= ~record::kProbeEvents;
    }
  }
  pool_descriptor_.reset();
}

void AgentSession::prepare_waits(JNIEnv* jni) {
  const bool sleeps = (granted_events & record::kSleepEvent) != 0;
  const bool parks = (granted_events & record::kParkEvent) != 0;
  if (!sleeps && !parks) return;
  waits = std::make_unique<WaitTracer>(*this);
  if (const char* error = waits->prepare(jni, sleeps, parks)) {
    report_missing("Thread.sleep and LockSupport.park", error);
    waits.reset();
    granted_events &= ~(record::kSleepEvent | record::kParkEvent);
  }
  // The event was needed to make the class; switch_events() enables it again if it is wanted.
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
}

namespace {

// Needs no safepoint and no handshake: ten thousand threads take a few milliseconds.
record::ThreadWas state_of(jvmtiEnv* jvmti, jthread thread) {
  using record::ThreadWas;
  jint state = 0;
  if (jvmti->GetThreadState(thread, &state) != JVMTI_ERROR_NONE || (state & JVMTI_THREAD_STATE_ALIVE) == 0)
    return ThreadWas::kUnknown;
  if ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0) return ThreadWas::kSuspended;
  if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) return ThreadWas::kBlocked;
  if ((state & JVMTI_THREAD_STATE_SLEEPING) != 0) return ThreadWas::kSleeping;
  if ((state & JVMTI_THREAD_STATE_PARKED) != 0) return ThreadWas::kParked;
  if ((state & JVMTI_THREAD_STATE_WAITING) != 0) return ThreadWas::kWaiting;
  return (state & JVMTI_THREAD_STATE_IN_NATIVE) != 0 ? ThreadWas::kNative : ThreadWas::kRunnable;
}

}  // namespace

bool AgentSession::define_thread(JNIEnv* jni, jthread thread, std::uint64_t id, bool ran_before) {
  const bool virtual_one = is_virtual(jni, thread);
  JvmtiText name(jvmti);
  JvmtiText group(jvmti);
  JvmtiText parent(jvmti);
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return false;
  *name.out() = info.name;
  jvmtiThreadGroupInfo group_info{};
  if (info.thread_group != nullptr && jvmti->GetThreadGroupInfo(info.thread_group, &group_info) == JVMTI_ERROR_NONE) {
    *group.out() = group_info.name;
    jvmtiThreadGroupInfo parent_info{};
    if (group_info.parent != nullptr &&
        jvmti->GetThreadGroupInfo(group_info.parent, &parent_info) == JVMTI_ERROR_NONE) {
      *parent.out() = parent_info.name;
      if (parent_info.parent != nullptr) jni->DeleteLocalRef(parent_info.parent);
    }
    if (group_info.parent != nullptr) jni->DeleteLocalRef(group_info.parent);
  }
  if (info.thread_group != nullptr) jni->DeleteLocalRef(info.thread_group);
  if (info.context_class_loader != nullptr) jni->DeleteLocalRef(info.context_class_loader);

  // The kernel's id is known only for the calling thread, and a virtual thread has none.
  const bool has_tid = !ran_before && !virtual_one;
  const auto tid = has_tid ? static_cast<std::uint64_t>(syscall(SYS_gettid)) : 0;
  const auto was = ran_before && !virtual_one ? state_of(jvmti, thread) : record::ThreadWas::kUnknown;
  const std::uint8_t flags = record::thread_flags(
      (ran_before ? unsigned{record::kThreadRanBefore} : 0u) | (virtual_one ? unsigned{record::kThreadVirtual} : 0u),
      was);
  Definition definition(
      id, record::ThreadFields{
              .tid = tid, .flags = flags, .name = name.view(), .group = group.view(), .parent = parent.view()});
  return definitions.append(definition);
}

std::uint64_t AgentSession::thread_id(JNIEnv* jni, jthread thread, bool ran_before) {
  const auto id = static_cast<std::uint64_t>(jni->GetLongField(thread, thread_tid));
  std::atomic<std::uint64_t>& known = known_threads_[slot_of(id) % kKnownThreads];
  if (known.load(std::memory_order_acquire) == id) return id;
  if (!define_thread(jni, thread, id, ran_before)) return 0;
  known.store(id, std::memory_order_release);
  return id;
}

bool AgentSession::define_by_id(std::uint64_t id) {
  Definition definition(id, record::ThreadFields{.flags = record::kThreadVirtual});
  if (!definitions.append(definition)) return false;
  known_threads_[slot_of(id) % kKnownThreads].store(id, std::memory_order_release);
  return true;
}

std::uint64_t AgentSession::vm_thread_id(Producer& producer) {
  const std::uint64_t id = trace::kVmThreadBase + producer.tid();
  if (producer.last_thread == id && producer.last_thread_generation == writer.generation) return id;
  char name[32] = "";
  const std::size_t length = thread_comm(name, sizeof name);
  Definition definition(id, record::ThreadFields{.tid = producer.tid(),
                                                 .flags = record::kThreadRanBefore | record::kThreadVmInternal,
                                                 .name = std::string_view(name, length)});
  if (!definitions.append(definition, false)) return 0;  // during a collection
  producer.last_thread = id;
  producer.last_thread_generation = writer.generation;
  return id;
}

void AgentSession::backfill_threads(JNIEnv* jni) {
  if (!config.wants(record::kThreadStartEvent)) return;
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti);
  if (jvmti->GetAllThreads(&count, threads.out()) != JVMTI_ERROR_NONE) return;
  accept_references(jni, count);
  for (jint i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint64_t>(jni->GetLongField(threads[i], thread_tid));
    if (!is_own_thread(id) && define_thread(jni, threads[i], id, true))
      known_threads_[slot_of(id) % kKnownThreads].store(id, std::memory_order_release);
    jni->DeleteLocalRef(threads[i]);
  }
}

// Callbacks end by themselves. But if a thousand threads queue for a safepoint each (GetObjectMonitorUsage), the last
// one takes long. Nothing waits for this thread in the meantime: it is the control thread.
constexpr std::uint32_t kLeaveLimitMs = 120'000;

void AgentSession::unmap_pool() {
  if (methods == nullptr) {
    munmap(writer.pool.base(), pool_size);
    return;
  }
  methods->area().hide_clock();
  methods.reset();
  retire_pool(writer.pool.base(), pool_size);
}

void AgentSession::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(wakeup.get(), &one, sizeof one);
}

void AgentSession::announce_all_is_on() {
  if (all_is_on_.exchange(1, std::memory_order_acq_rel) != 0) return;
  syscall(SYS_futex, &all_is_on_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool AgentSession::wait_until_all_is_on(std::uint64_t limit_ns) const {
  const std::uint64_t since = monotonic_ns();
  while (all_is_on_.load(std::memory_order_acquire) == 0) {
    const std::uint64_t waited = monotonic_ns() - since;
    if (waited >= limit_ns) return false;
    const std::uint64_t left = limit_ns - waited;
    timespec limit{static_cast<time_t>(left / kNanosPerSecond), static_cast<long>(left % kNanosPerSecond)};
    syscall(SYS_futex, &all_is_on_, FUTEX_WAIT_PRIVATE, 0, &limit, nullptr, 0);
  }
  return true;
}

// False if a producer found no room to report its losses.
bool AgentSession::leave_all(Producer& reporter) {
  bool complete = true;
  Producer::for_each([&](Producer& producer) { complete = producer.leave(writer, reporter) && complete; });
  return complete;
}

void AgentSession::stop(JNIEnv* jni) {
  announce_all_is_on();
  looks.close();
  note_work(record::AgentWork::kRestoring);
  if (methods != nullptr && !vm_dead) methods->remove(jni);
  if (waits != nullptr && !vm_dead) waits->stop(jni);
  if ((methods != nullptr || waits != nullptr) && !vm_dead) looks.settle(jvmti, jni);
  note_work(record::AgentWork::kLeaving);
  switch_events(false);
  current().store(nullptr, std::memory_order_seq_cst);
  const bool empty = CallbackGuard::wait_until_empty(kLeaveLimitMs);
  if (Producer* mine = Producer::current(); empty && mine != nullptr) {
    // Writes what was lost. A full pool is being emptied by jtrace, if jtrace is alive.
    constexpr int kPauseUs = 2000;
    for (int tries = vm_dead ? 100 : 500; tries > 0 && !leave_all(*mine); --tries) usleep(kPauseUs);
    mine->leave(writer);
  }
  if (empty && methods != nullptr && !vm_dead) methods->release(jni);
  jvmti->DisposeEnvironment();
  jni->DeleteGlobalRef(thread_class);
  if (virtual_thread_class != nullptr) jni->DeleteGlobalRef(virtual_thread_class);
  if (string_class != nullptr) jni->DeleteGlobalRef(string_class);
  record::PoolHeader& header = writer.pool.header();
  if (!vm_dead) header.agent_state.store(static_cast<std::uint32_t>(record::AgentState::kDetached));
  // A callback that is still running keeps the mapping and the session: a leak is better than a crash of the JVM.
  if (!empty) {
    has_leaked() = true;
    return;
  }
  unmap_pool();
  waits.reset();
  registry.reset();
}

}  // namespace jtrace::agent
