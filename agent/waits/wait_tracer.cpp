#include "agent/waits/wait_tracer.h"

#include <time.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/boot_class.h"
#include "agent/callback_guard.h"
#include "agent/classfile/callout_methods.h"
#include "agent/native_methods.h"
#include "agent/waits/sleep_native.h"
#include "agent/waits/wait_class.h"
#include "agent/waits/wait_kinds.h"
#include "agent/waits/wait_redirect.h"

namespace jtrace::agent {
namespace {

constexpr std::uint64_t kNanosPerMilli = 1'000'000;

bool threw(JNIEnv* jni) {
  if (!jni->ExceptionCheck()) return false;
  jni->ExceptionClear();
  return true;
}

jclass global_class(JNIEnv* jni, const char* name) {
  jclass found = jni->FindClass(name);
  return threw(jni) || found == nullptr ? nullptr : static_cast<jclass>(jni->NewGlobalRef(found));
}

// What the end of a wait must know, as the long that Java code keeps meanwhile. The end of a wait that began in another
// session is ignored.
struct WaitToken {
  std::uint64_t session = 0;  // 15 bits, never 0
  bool is_park = false;       // 1 bit
  std::uint64_t object = 0;   // objId of the blocker, 47 bits

  constexpr std::uint64_t bits() const {
    return session << kSessionShift | (is_park ? std::uint64_t{1} : 0) << kParkShift | object;
  }
  static constexpr WaitToken of(std::uint64_t bits) {
    constexpr std::uint64_t kObjects = (std::uint64_t{1} << kParkShift) - 1;
    return {bits >> kSessionShift, (bits >> kParkShift & 1) != 0, bits & kObjects};
  }
  static std::uint64_t session_of(const Recorder& recorder) { return recorder.writer.generation % 0x7fff + 1ull; }

  static constexpr int kParkShift = 47;
  static constexpr int kSessionShift = 48;
};
static_assert(WaitToken::of(WaitToken{7, true, 9}.bits()).session == 7);
static_assert(WaitToken::of(WaitToken{7, true, 9}.bits()).is_park);
static_assert(WaitToken::of(WaitToken{7, true, 9}.bits()).object == 9);

// A timeout as the trace format has it: ms, rounded up; 0: none.
std::uint64_t timeout_of(WaitMode mode, jlong time) {
  if (time <= 0) return 0;
  const auto value = static_cast<std::uint64_t>(time);
  if (mode != kParkUntil) return value / kNanosPerMilli + (value % kNanosPerMilli != 0 ? 1 : 0);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::uint64_t ms =
      static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / kNanosPerMilli;
  return value > ms ? value - ms : 1;
}

// A thread begins to wait. Returns the token of the wait; 0: the wait is not recorded.
std::uint64_t begin_wait(const CallbackGuard& guard, JNIEnv* jni, jthread thread, WaitMode mode, jlong time) {
  Recorder& recorder = guard.recorder();
  if (recorder.threads.is_own(recorder.threads.id_of(jni, thread))) return 0;
  record::MonitorRecord made{};
  made.thread = recorder.threads.defined(jni, thread);
  const bool is_park = mode != kSleepNanos;
  made.header.flags = is_park ? record::kPark : record::kSleep;
  made.argument = timeout_of(mode, time);
  const bool defined = !is_park || recorder.waits->blocker_of(jni, thread, made.object, made.owner);
  if (made.thread == 0 || !defined) {
    recorder.writer.count_dropped(1);
    return 0;
  }
  guard.write(made, record::RecordKind::kMonWait);
  return WaitToken{WaitToken::session_of(recorder), is_park, made.object}.bits();
}

// The calling platform thread begins to sleep.
OpenWait begin_sleep(JNIEnv* jni, jlong nanos) {
  CallbackGuard guard;
  if (!guard || nanos < 0) return {};
  Recorder& recorder = guard.recorder();
  if (recorder.waits == nullptr || !recorder.waits->wants(record::kSleepEvent)) return {};
  LocalFrame frame(jni, 8);
  const CurrentThread thread(recorder.jvmti, jni);
  if (thread.get() == nullptr) return {};
  const std::uint64_t token = begin_wait(guard, jni, thread.get(), kSleepNanos, nanos);
  return {token, recorder.threads.id_of(jni, thread.get())};
}

void end_wait(const CallbackGuard& guard, const OpenWait& wait) {
  const WaitToken token = WaitToken::of(wait.token);
  if (token.session != WaitToken::session_of(guard.recorder())) return;
  record::MonitorRecord made{};
  made.header.flags = token.is_park ? record::kPark : record::kSleep;
  made.thread = wait.thread;
  made.object = token.object;
  guard.write(made, record::RecordKind::kMonWaited);
}

// Makes no JNI call, because an exception may be pending.
void end_sleep(JNIEnv*, const OpenWait& wait) {
  CallbackGuard guard(CallbackGuard::kLifecycle);  // a wait that began in the trace must end in it
  if (guard) end_wait(guard, wait);
}

constexpr SleepObserver kObserver = {begin_sleep, end_sleep};

// How the natives of the class find the copy of the library that is tracing: the class stays bound to the copy that
// made it.
struct WaitNatives {
  jlong (*before)(JNIEnv* jni, jthread thread, jint mode, jlong time);
  void (*after)(JNIEnv* jni, jthread thread, jlong token);
  void (*parking)(JNIEnv* jni, jthread thread, jint mode, jlong time);
  void (*parked)();
  bool (*bind)(JNIEnv* jni, bool ours);
};
struct WaitArea {
  static constexpr std::uint64_t kMagic = 0x3253544957525456ull;
  std::uint64_t magic = kMagic;
  std::atomic<const WaitNatives*> natives{nullptr};
};
constinit WaitArea g_area;

jlong before(JNIEnv* jni, jthread thread, jint mode, jlong time) {
  CallbackGuard guard;
  if (!guard || guard.recorder().waits == nullptr || thread == nullptr) return 0;
  LocalFrame frame(jni, 8);
  return static_cast<jlong>(begin_wait(guard, jni, thread, static_cast<WaitMode>(mode), time));
}

void after(JNIEnv* jni, jthread thread, jlong token) {
  if (token == 0) return;
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard || thread == nullptr) return;
  const auto id = guard.recorder().threads.id_of(jni, thread);
  end_wait(guard, {static_cast<std::uint64_t>(token), id});
}

// A platform thread is in one park at a time, and an exception never ends a park.
void parking(JNIEnv* jni, jthread thread, jint mode, jlong time) {
  CallbackGuard guard;
  if (!guard || guard.recorder().waits == nullptr || thread == nullptr) return;
  LocalFrame frame(jni, 8);
  Producer& producer = guard.producer();
  producer.park_token = begin_wait(guard, jni, thread, static_cast<WaitMode>(mode), time);
  producer.park_thread = guard.recorder().threads.id_of(jni, thread);
}

void parked() {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (!guard) return;
  Producer& producer = guard.producer();
  end_wait(guard, {std::exchange(producer.park_token, 0), producer.park_thread});
}

bool bind_natives(JNIEnv* jni, bool ours) {
  CallbackGuard guard(CallbackGuard::kLifecycle);
  return guard && bind_sleep_native(jni, guard.recorder().threads.thread_class(), ours ? &kObserver : nullptr);
}

constexpr WaitNatives kNatives = {before, after, parking, parked, bind_natives};

// The native methods. The JVM may call them until it ends.
const WaitNatives* natives() { return g_area.natives.load(std::memory_order_acquire); }
jlong JNICALL call_before(JNIEnv* jni, jclass, jobject thread, jint mode, jlong time) {
  const WaitNatives* table = natives();
  return table == nullptr ? 0 : table->before(jni, thread, mode, time);
}
void JNICALL call_after(JNIEnv* jni, jclass, jobject thread, jlong token) {
  if (const WaitNatives* table = natives()) table->after(jni, thread, token);
}
void JNICALL call_parking(JNIEnv* jni, jclass, jobject thread, jint mode, jlong time) {
  if (const WaitNatives* table = natives()) table->parking(jni, thread, mode, time);
}
void JNICALL call_parked(JNIEnv*, jclass) {
  if (const WaitNatives* table = natives()) table->parked();
}
jboolean JNICALL call_bind(JNIEnv* jni, jclass, jboolean ours) {
  const WaitNatives* table = natives();
  return table != nullptr && table->bind(jni, ours != JNI_FALSE) ? JNI_TRUE : JNI_FALSE;
}

}  // namespace

const char* WaitTracer::prepare(JNIEnv* jni, std::uint64_t events) {
  LocalFrame frame(jni, 16);
  events_ = events;
  if (const char* error = define_class(jni)) return error;
  for (const WaitKind& kind : kWaitKinds) {
    if (!wants(kind.event)) continue;
    if (const char* error = (this->*kind.find)(jni)) return error;
    if (kind.with == nullptr || boot_class(jni, kind.with, false) != nullptr) rewritten_ |= kind.event;
    threw(jni);
  }
  return nullptr;
}

const char* WaitTracer::define_class(JNIEnv* jni) {
  jclass made = jni->FindClass(kWaitClass);
  if (threw(jni) || made == nullptr) {
    // The annotation moved with JDK 15 (hidden classes).
    const bool is_new = jni->FindClass("jdk/internal/vm/annotation/Hidden") != nullptr;
    threw(jni);
    const classfile::Bytes bytes =
        make_wait_class(reinterpret_cast<std::uint64_t>(&g_area),
                        is_new ? "Ljdk/internal/vm/annotation/Hidden;" : "Ljava/lang/invoke/LambdaForm$Hidden;");
#define CALLOUT_NATIVE(method, function) \
  static_assert(takes_descriptor(function, classfile::text_of(classfile::CalloutMethod::method).descriptor));
#define OWN_NATIVE(id, name, descriptor, function) static_assert(takes_descriptor(function, descriptor));
#include "agent/waits/wait_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
    const JNINativeMethod methods[] = {
#define CALLOUT_NATIVE(method, function)                                   \
  native_method(classfile::text_of(classfile::CalloutMethod::method).name, \
                classfile::text_of(classfile::CalloutMethod::method).descriptor, function),
#define OWN_NATIVE(id, name, descriptor, function) native_method(name, descriptor, function),
#include "agent/waits/wait_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
    };
    const char* error = nullptr;
    constexpr jint kMethods = sizeof methods / sizeof methods[0];
    made = define_boot_class(jvmti_, jni, kWaitClass, bytes, methods, kMethods, error);
    if (made == nullptr) return error;
  }
  const jfieldID field = jni->GetStaticFieldID(made, kWaitAreaField, "J");
  if (threw(jni) || field == nullptr) return "the class that waits go to could not be initialized";
  auto* area = reinterpret_cast<WaitArea*>(jni->GetStaticLongField(made, field));
  if (area == nullptr || area->magic != WaitArea::kMagic)
    return "an agent of another version has left its class of waits";
  area->natives.store(&kNatives, std::memory_order_release);
  class_ = static_cast<jclass>(jni->NewGlobalRef(made));
  return nullptr;
}

const char* WaitTracer::find_sleep(JNIEnv* jni) { return find_sleep_native(jni, threads_.thread_class()); }

const char* WaitTracer::find_blockers(JNIEnv* jni) {
  blocker_field_ = jni->GetFieldID(threads_.thread_class(), "parkBlocker", "Ljava/lang/Object;");
  if (threw(jni) || blocker_field_ == nullptr) return "LockSupport.park: java.lang.Thread has no field parkBlocker";
  ownable_ = global_class(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
  if (ownable_ == nullptr) return nullptr;  // without it, no lock has a known owner
  owner_field_ = jni->GetFieldID(ownable_, "exclusiveOwnerThread", "Ljava/lang/Thread;");
  threw(jni);
  return nullptr;
}

bool WaitTracer::bind(JNIEnv* jni, bool ours) const {
  const jmethodID method = jni->GetStaticMethodID(class_, kWaitBind, "(Z)Z");
  if (threw(jni) || method == nullptr) return false;
  const bool bound = jni->CallStaticBooleanMethod(class_, method, ours ? JNI_TRUE : JNI_FALSE) != JNI_FALSE;
  return !threw(jni) && bound;
}

void WaitTracer::start(JNIEnv* jni) {
  if (wants(record::kSleepEvent)) bind(jni, true);
  if (rewritten_ == 0) return;
  redirects_ = true;
  jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  looks_.close();
  retransform(jni);
  looks_.settle(jvmti_, jni);
}

void WaitTracer::stop(JNIEnv* jni) {
  if (wants(record::kSleepEvent)) bind(jni, false);
  if (redirects_.exchange(false)) {
    retransform(jni);
    jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  }
  if (class_ != nullptr) jni->DeleteGlobalRef(class_);
  if (ownable_ != nullptr) jni->DeleteGlobalRef(ownable_);
}

// The current class files of the classes that are rewritten, from class_file(). Waits may have one class.
void WaitTracer::retransform(JNIEnv* jni) const {
  LocalFrame frame(jni, static_cast<jint>(kWaitKindCount) + 2);
  std::vector<jclass> classes;
  for (const WaitKind& kind : kWaitKinds) {
    if ((rewritten_ & kind.event) == 0) continue;
    jclass host = jni->FindClass(kind.host);
    if (threw(jni) || host == nullptr) continue;
    const auto is_same = [&](jclass each) { return jni->IsSameObject(each, host) != JNI_FALSE; };
    if (std::none_of(classes.begin(), classes.end(), is_same)) classes.push_back(host);
  }
  jvmti_->RetransformClasses(static_cast<jint>(classes.size()), classes.data());
}

bool WaitTracer::class_file(std::string_view name, classfile::ByteView bytes, classfile::Bytes& out) const {
  if (!redirects_) return false;
  bool changed = false;
  for (const WaitKind& kind : kWaitKinds) {
    if ((rewritten_ & kind.event) == 0 || name != kind.host) continue;
    classfile::ClassFile klass;
    classfile::Bytes rewritten;
    if (!klass.parse(changed ? classfile::ByteView(out) : bytes)) return changed;
    if (!kind.rewrite(klass, kWaitClass, rewritten)) continue;
    out.swap(rewritten);
    changed = true;
  }
  return changed;
}

bool WaitTracer::blocker_of(JNIEnv* jni, jthread thread, std::uint64_t& object, std::uint64_t& owner) const {
  jobject blocker = jni->GetObjectField(thread, blocker_field_);
  if (blocker == nullptr) return true;
  object = registry_.object_id(jni, blocker);
  owner = owner_id(jni, blocker);
  return object != 0;
}

std::uint64_t WaitTracer::owner_id(JNIEnv* jni, jobject lock) const {
  if (owner_field_ == nullptr || jni->IsInstanceOf(lock, ownable_) == JNI_FALSE) return 0;
  jobject owner = jni->GetObjectField(lock, owner_field_);
  if (owner == nullptr) return 0;
  if (!threads_.is_virtual(jni, owner)) return threads_.defined_other(jni, owner);
  // JVM TI would wait until a virtual thread that is being mounted or unmounted has finished, and that may need what
  // the calling thread holds. So only its fields are read.
  const std::uint64_t id = threads_.id_of(jni, owner);
  return threads_.is_defined(id) || threads_.define_by_field(jni, owner, id) ? id : 0;
}

}  // namespace jtrace::agent
