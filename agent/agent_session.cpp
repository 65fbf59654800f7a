#include "agent/agent_session.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "agent/callbacks.h"
#include "agent/event_needs.h"
#include "agent/jvm_fitness.h"
#include "agent/lasting_environment.h"
#include "agent/methods/method_tracer.h"
#include "agent/retired_pools.h"
#include "agent/waits/wait_kinds.h"
#include "agent/waits/wait_tracer.h"
#include "base/clock.h"
#include "trace/option_keys.h"
#include "trace/record/event_words.h"

namespace jtrace::agent {
namespace {

constinit std::atomic<std::uint32_t> g_generation{0};
constinit std::atomic<bool> g_leaked{false};

}  // namespace

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
  writer.one_slot_callouts = !config.has_flag(record::kReceivers) && !config.has_flag(record::kCpuTime) &&
                             (config.events & record::kCallEvent) == 0;
  writer.generation = g_generation.fetch_add(1) + 1;
  return nullptr;
}

AgentSession::AgentSession(JavaVM* java_vm, UniqueFd socket) : vm(java_vm), control(static_cast<UniqueFd&&>(socket)) {}

AgentSession::~AgentSession() = default;

void AgentSession::report_missing(std::string_view what, std::string_view why) {
  ByteBuffer text;
  for (const std::string_view part : {what, std::string_view(": "), why}) text.put_bytes(part.data(), part.size());
  definitions.append_option(trace::kUnavailableKey, text.view());
  if (left_out_.size() != 0) left_out_.put_bytes("; ", 2);
  left_out_.put_bytes(text.data(), text.size());
}

void AgentSession::report_not_offered(const NotOffered& missing) {
  ByteBuffer why;
  for (const std::string_view part :
       {missing.name, std::string_view(": "), why_not_offered(missing.capability, jvmti, !started_with_vm)})
    why.put_bytes(part.data(), part.size());
  report_missing(missing.what, why.view());
}

// A thread keeps the distance to the next sample that it had drawn before (ThreadHeapSampler::pick_next_sample).
// Measured at an interval of 0: of the first 3,000 objects of a thread JDK 11 and 17 report none, 21 and 25 none to a
// half. With -agentpath all Java threads come after the interval; but before JDK 25 the allocation buffer of main has
// no place for a sample yet.
void AgentSession::report_late_samples() {
  constexpr std::uint64_t kOfJvm = 512u << 10;  // ThreadHeapSampler::_sampling_interval, unless it is set
  constexpr int kWholeFromTheStart = 25;
  if (!traces(record::kObjAllocEvent) || config.sample_interval >= kOfJvm) return;
  if (started_with_vm && major_version(jvmti) >= kWholeFromTheStart) return;
  report_missing(record::element_of(record::kObjAllocEvent),
                 "threads that run already are sampled only after each has allocated some 512 KiB more; --events "
                 "allocations has every object");
}

// The sampler's estimates depend on it (docs/formats.md, "Allocations"), and which owners of monitors JVM TI names.
void AgentSession::report_jdk() {
  const bool samples = traces(record::kObjAllocEvent) && config.sample_interval != 0;
  const bool has_owners = traces(record::kMonContendedEnterEvent) && config.has_flag(record::kMonitorOwner);
  if (!samples && !(has_owners && threads.may_be_virtual())) return;
  char text[16];
  const int length = snprintf(text, sizeof text, "%d", major_version(jvmti));
  definitions.append_option(trace::kJdkKey, std::string_view(text, static_cast<std::size_t>(length)));
}

void AgentSession::set_callbacks() {
  EventCallbacks callbacks;
  install_callbacks(callbacks);
  callbacks.give_to(jvmti);
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
  std::vector<NotOffered> missing;
  const char* const refusal = take_capabilities(jvmti, config, granted_events, missing);
  for (const NotOffered& each : missing) report_not_offered(each);
  if (refusal != nullptr) return refusal;
  // As early as can be: a thread draws its first distance to a sample when it is made.
  if (traces(record::kObjAllocEvent)) jvmti->SetHeapSamplingInterval(static_cast<jint>(config.sample_interval));
  jrawMonitorID monitor = nullptr;
  if (jvmti->CreateRawMonitor("jtrace registry", &monitor) != JVMTI_ERROR_NONE) return "the JVM gave no raw monitor";
  registry = std::make_unique<Registry>(jvmti, monitor, definitions, writer, looks,
                                        static_cast<FilterBlock&&>(config.filters));
  if (!wakeup.open()) return "no event descriptor is left in this process";
  set_callbacks();
  if (!live) {
    jvmti->SetEnvironmentLocalStorage(this);
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  }
  writer.pool.header().agent_state.store(static_cast<std::uint32_t>(record::AgentState::kStarting));
  return nullptr;
}

const char* AgentSession::go_live(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  if (const char* error = threads.start(jni, jvmti)) return error;
  report_late_samples();
  report_jdk();
  prepare_methods(jni);
  prepare_waits(jni);
  writer.pool.header().agent_state.store(static_cast<std::uint32_t>(record::AgentState::kTracing));
  CallbackGuard::current().store(this, std::memory_order_seq_cst);
  switch_events(jvmti, config, granted_events, true);
  if (config.wants(record::kThreadStartEvent)) threads.define_all(jni);
  return nullptr;
}

// If there can be no callouts, the trace runs without them, with a note.
void AgentSession::prepare_methods(JNIEnv* jni) {
  if (traces(record::kCalloutEvents)) {
    method_tracer_ = std::make_unique<MethodTracer>(*this, wakeup);
    methods = method_tracer_.get();
    if (const char* error = methods->prepare(jni, pool_descriptor_.get())) {
      report_missing(record::kCalloutGroupsAnd.view(), error);
      drop_methods();
      granted_events &= ~record::kCalloutEvents;
    }
  }
  pool_descriptor_.reset();
}

void AgentSession::drop_methods() {
  methods->disconnect();
  methods = nullptr;
  method_tracer_.reset();
}

void AgentSession::prepare_waits(JNIEnv* jni) {
  if (!traces(kWaitEvents)) return;
  wait_tracer_ = std::make_unique<WaitTracer>(jvmti, looks, threads, *registry);
  waits = wait_tracer_.get();
  if (const char* error = waits->prepare(jni, granted_events & kWaitEvents)) {
    report_missing(kWaitNames.view(), error);
    drop_waits();
    granted_events &= ~kWaitEvents;
  }
  // The event was needed to make the class; switch_events() enables it again if it is wanted.
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_PREPARE, nullptr);
}

void AgentSession::drop_waits() {
  waits = nullptr;
  wait_tracer_.reset();
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
  drop_methods();
  retire_pool(writer.pool.base(), pool_size);
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
  writer.note_work(record::AgentWork::kRestoring);
  if (methods != nullptr && !vm_dead) methods->remove(jni);
  if (waits != nullptr && !vm_dead) waits->stop(jni);
  if ((methods != nullptr || waits != nullptr) && !vm_dead) looks.settle(jvmti, jni);
  writer.note_work(record::AgentWork::kLeaving);
  switch_events(jvmti, config, granted_events, false);
  CallbackGuard::current().store(nullptr, std::memory_order_seq_cst);
  const bool empty = CallbackGuard::wait_until_empty(kLeaveLimitMs);
  if (Producer* mine = Producer::current(); empty && mine != nullptr) {
    // Writes what was lost. A full pool is being emptied by jtrace, if jtrace is alive.
    constexpr int kPauseUs = 2000;
    for (int tries = vm_dead ? 100 : 500; tries > 0 && !leave_all(*mine); --tries) usleep(kPauseUs);
    mine->leave(writer);
  }
  if (empty && methods != nullptr && !vm_dead) methods->release(jni);
  jvmti->DisposeEnvironment();
  threads.release(jni);
  record::PoolHeader& header = writer.pool.header();
  if (!vm_dead) header.agent_state.store(static_cast<std::uint32_t>(record::AgentState::kDetached));
  // A callback that is still running keeps the mapping and the session: a leak is better than a crash of the JVM.
  if (!empty) {
    has_leaked() = true;
    return;
  }
  unmap_pool();
  drop_waits();
  registry.reset();
}

}  // namespace jtrace::agent
