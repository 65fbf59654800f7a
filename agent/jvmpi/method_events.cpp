#include "agent/jvmpi/method_events.h"

#include <iterator>

#include "agent/boot_class.h"
#include "agent/classfile/callout_methods.h"
#include "agent/classfile/class_builder.h"
#include "agent/guarded_classes.h"
#include "agent/jvmpi/bridge.h"
#include "agent/jvmpi/wait_events.h"
#include "agent/native_methods.h"

namespace jtrace::agent::jvmpi {
namespace {

using classfile::CalloutMethod;
using classfile::ClassBuilder;
using classfile::ClassFile;
using classfile::CodeBuilder;
using classfile::Method;
using classfile::MethodPlan;

constexpr char kHelper[] = "java/lang/JTraceJvmpi1";  // the number is the class's version
constexpr char kSwitch[] = "WANTED";

// Bits of the helper's static field.
enum Wanted : jint { kEntries = 1, kExits = 2, kAllocations = 4 };

// Opcodes that only this file uses (JVMS 6.5).
enum : unsigned { kIload0 = 26, kIload1 = 27, kIand = 126, kGetstatic = 178 };

enum class HelperNative {
#define HELPER_NATIVE(id, name, descriptor, function) id,
#include "agent/jvmpi/helper_natives.def"
#undef HELPER_NATIVE
};
struct NativeText {
  const char* name;
  const char* descriptor;
};
constexpr NativeText kHelperNatives[] = {
#define HELPER_NATIVE(id, name, descriptor, function) {name, descriptor},
#include "agent/jvmpi/helper_natives.def"
#undef HELPER_NATIVE
};
constexpr const NativeText& text_of(HelperNative native) { return kHelperNatives[static_cast<std::size_t>(native)]; }

// The methods that rewritten code calls, each with the bit that lets it call its native method.
struct HelperCallout {
  CalloutMethod method;
  Wanted bit;
  HelperNative callback;  // takes the same arguments
};
constexpr HelperCallout kCallouts[] = {{CalloutMethod::kEnter, kEntries, HelperNative::kEntered},
                                       {CalloutMethod::kReceived, kEntries, HelperNative::kEnteredWith},
                                       {CalloutMethod::kExit, kExits, HelperNative::kExited},
                                       {CalloutMethod::kLeave, kExits, HelperNative::kExited},
                                       {CalloutMethod::kAllocated, kAllocations, HelperNative::kMade}};
static_assert(classfile::has_methods_of(MethodEvents::kOptions, [](CalloutMethod wanted) {
  for (const HelperCallout& each : kCallouts)
    if (each.method == wanted) return true;
  return false;
}));
static_assert([] {
  for (const HelperCallout& each : kCallouts)
    if (!classfile::takes(each.method, text_of(each.callback).descriptor)) return false;
  return true;
}());

std::uint16_t native_of(ClassBuilder& made, HelperNative native) {
  return made.pool().method(made.this_class(), text_of(native).name, text_of(native).descriptor);
}
void add_native(ClassBuilder& made, const NativeText& native) {
  made.add_native(0x010a, native.name, native.descriptor);  // private static native
}

// method(arguments) { if ((WANTED & bit) != 0) callback(same arguments); }
void add_callout(ClassBuilder& made, std::uint16_t field, const HelperCallout& callout) {
  const char* const descriptor = classfile::text_of(callout.method).descriptor;
  const bool has_object = classfile::takes(callout.method, classfile::kTakesObject);
  CodeBuilder code(made.pool());
  code.op2(kGetstatic, field);
  code.op(classfile::kIconst0 + static_cast<unsigned>(callout.bit));
  code.op(kIand);
  const std::size_t unwanted = code.jump(classfile::kIfeq);
  if (has_object) code.op(classfile::kAload0);
  code.op(has_object ? kIload1 : kIload0);
  code.op2(classfile::kInvokestatic, native_of(made, callout.callback));
  code.land(unwanted);
  code.op(classfile::kReturn);
  made.add_method(0x0009, classfile::text_of(callout.method).name, descriptor, 2, has_object ? 2 : 1, code);
}

constexpr char kBind[] = "bindSleep";  // static void bindSleep(boolean): calls bindSleep0

classfile::Bytes make_helper() {
  ClassBuilder made(kHelper, "java/lang/Object");
  made.add_field(0x000a, kSwitch, "I");  // private static
  const std::uint16_t field = made.pool().field(made.this_class(), kSwitch, "I");
  for (const HelperCallout& each : kCallouts) add_callout(made, field, each);
  const NativeText& bind_native = text_of(HelperNative::kBindSleep);
  add_native(made, bind_native);
  CodeBuilder bind(made.pool());
  bind.op(kIload0);
  bind.op2(classfile::kInvokestatic, native_of(made, HelperNative::kBindSleep));
  bind.op(classfile::kReturn);
  made.add_method(0x0009, kBind, bind_native.descriptor, 1, 1, bind);
  for (const NativeText& each : kHelperNatives)
    if (&each != &bind_native) add_native(made, each);
  return made.finish();
}

void JNICALL call_entered(JNIEnv* jni, jclass, jint number) {
  if (Bridge* bridge = Bridge::get()) bridge->methods->entered(jni, number, nullptr);
}
void JNICALL call_entered_with(JNIEnv* jni, jclass, jobject receiver, jint number) {
  if (Bridge* bridge = Bridge::get()) bridge->methods->entered(jni, number, receiver);
}
void JNICALL call_exited(JNIEnv* jni, jclass, jint number) {
  if (Bridge* bridge = Bridge::get()) bridge->methods->exited(jni, number);
}
void JNICALL call_made(JNIEnv* jni, jclass, jobject object, jint) {
  if (Bridge* bridge = Bridge::get()) bridge->methods->allocated(jni, object);
}

// Called through the helper, which is a class of the boot loader (agent/waits/sleep_native.h).
void JNICALL call_bind_sleep(JNIEnv* jni, jclass, jboolean ours) {
  bind_sleep_native(jni, jni->FindClass("java/lang/Thread"), ours != JNI_FALSE ? &kSleepEvents : nullptr);
}

}  // namespace

bool MethodEvents::helper_exists(JNIEnv* jni) {
  const bool exists = jni->FindClass(kHelper) != nullptr;
  jni->ExceptionClear();
  return exists;
}

const char* MethodEvents::define_helper(JNIEnv* jni) {
  LocalFrame frame(jni, 16);
#define HELPER_NATIVE(id, name, descriptor, function) static_assert(takes_descriptor(function, descriptor));
#include "agent/jvmpi/helper_natives.def"
#undef HELPER_NATIVE
  const JNINativeMethod natives[] = {
#define HELPER_NATIVE(id, name, descriptor, function) native_method(name, descriptor, function),
#include "agent/jvmpi/helper_natives.def"
#undef HELPER_NATIVE
  };
  const classfile::Bytes bytes = make_helper();
  const char* error = nullptr;
  jclass made = define_boot_class(bridge_.jvmti, jni, kHelper, bytes, natives, std::size(natives), error);
  if (made == nullptr) return error;
  switch_ = jni->GetStaticFieldID(made, kSwitch, "I");
  helper_ = bridge_.new_global(jni, made);
  jmethodID* next = helper_methods_;
  for (const HelperCallout& each : kCallouts)
    *next++ =
        jni->GetStaticMethodID(made, classfile::text_of(each.method).name, classfile::text_of(each.method).descriptor);
  static_assert(std::size(kCallouts) + std::size(kHelperNatives) - 1 == kHelperMethods);
  for (const NativeText& each : kHelperNatives)
    if (&each != &text_of(HelperNative::kBindSleep)) *next++ = jni->GetStaticMethodID(made, each.name, each.descriptor);
  return nullptr;
}

bool MethodEvents::is_callout(jmethodID method) const {
  for (jmethodID each : helper_methods_)
    if (each == method) return true;
  return false;
}

// --- putting callouts in --------------------------------------------------------------------------------------------

bool MethodEvents::install(JNIEnv* jni) {
  if (helper_ == nullptr || jni == nullptr) return false;
  std::uint32_t callouts = wanted_;
  if (bridge_.wants_any(kMethodEvents)) callouts |= classfile::kCalloutEntry | classfile::kCalloutExit;
  if (const std::uint32_t before = installed_.fetch_or(callouts); (callouts & ~before) != 0) {
    for (const jvmtiEvent event : {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_PREPARE})
      bridge_.jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
    retransform_loaded(jni);
  }
  switch_callouts(jni);
  return true;
}

void MethodEvents::switch_callouts(JNIEnv* jni) {
  if (helper_ == nullptr || jni == nullptr) return;
  jint wanted = 0;
  if (bridge_.wants_any(bit_of(JVMPI_EVENT_METHOD_ENTRY) | bit_of(JVMPI_EVENT_METHOD_ENTRY2))) wanted |= kEntries;
  // The stack of calls, by which exits are matched, needs both events.
  if (bridge_.wants(JVMPI_EVENT_METHOD_EXIT)) wanted |= kEntries | kExits;
  if (bridge_.wants(JVMPI_EVENT_OBJECT_ALLOC)) wanted |= kAllocations;
  jni->SetStaticIntField(helper_, switch_, wanted);
}

void MethodEvents::retransform(const jclass* classes, jint count) {
  if (count == 0 || bridge_.jvmti->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return;
  // If the JVM refuses one class, the whole batch fails.
  for (jint i = 0; i < count; ++i) bridge_.jvmti->RetransformClasses(1, &classes[i]);
}

bool MethodEvents::is_guarded(jclass klass) const {
  JvmtiText signature(bridge_.jvmti);
  bridge_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  return is_guarded_class(internal_name(signature.view()));
}

void MethodEvents::retransform_loaded(JNIEnv* jni) {
  const auto is_linked = [&](jclass klass) {
    jboolean modifiable = JNI_FALSE;
    jint status = 0;
    bridge_.jvmti->IsModifiableClass(klass, &modifiable);
    bridge_.jvmti->GetClassStatus(klass, &status);
    if (modifiable == JNI_FALSE || (status & JVMTI_CLASS_STATUS_ERROR) != 0 || is_guarded(klass)) return false;
    if ((status & JVMTI_CLASS_STATUS_PREPARED) != 0) return true;
    bridge_.ids.tag(klass, kIsClass | kAwaitsCallouts);
    return false;
  };
  bridge_.looks.close();
  for_each_batch(bridge_.jvmti, jni, is_linked,
                 [&](const jclass* classes, jint count) { retransform(classes, count); });
  bridge_.looks.settle(bridge_.jvmti, jni);
}

bool MethodEvents::class_prepared(JNIEnv* jni, jclass klass) {
  if (boot_class_prepared(bridge_.jvmti, jni, klass)) return true;
  jlong tag = 0;
  if (!installed() || bridge_.jvmti->GetTag(klass, &tag) != JVMTI_ERROR_NONE || (tag & kAwaitsCallouts) == 0)
    return false;
  bridge_.ids.clear_flags(klass, kAwaitsCallouts);
  retransform(&klass, 1);
  return false;
}

void MethodEvents::class_file(classfile::ByteView bytes, jint* new_size, unsigned char** new_bytes) {
  const std::uint32_t callouts = installed_;
  ClassFile klass;
  if (callouts == 0 || !klass.parse(bytes) || is_guarded_class(klass.name())) return;
  const auto count = static_cast<std::uint32_t>(klass.methods().size());
  const std::uint32_t first = table_.reserve(count);
  if (first == 0) return;
  std::vector<MethodPlan> plans(count);
  for (std::uint32_t i = 0; i < count; ++i) plans[i] = {.number = first + i, .callouts = callouts};
  classfile::Bytes out;
  if (rewrite_class(klass, kHelper, plans, out) != classfile::ClassOutcome::kRewritten) return;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Method& method = klass.methods()[i];
    MethodSlot& slot = table_.at(first + i);
    slot.open_start = plans[i].open_start;
    slot.is_constructor = method.is_constructor();
    slot.is_instance = (method.access & classfile::kAccStatic) == 0;
  }
  if (bridge_.jvmti->Allocate(static_cast<jlong>(out.size()), new_bytes) != JVMTI_ERROR_NONE) return;
  std::memcpy(*new_bytes, out.data(), out.size());
  *new_size = static_cast<jint>(out.size());
}

void MethodEvents::bind_sleep(JNIEnv* jni, bool ours) {
  if (helper_ == nullptr || jni == nullptr || sleep_bound_.load() == ours) return;
  LocalFrame frame(jni, 4);
  if (ours && find_sleep_native(jni, jni->FindClass("java/lang/Thread")) != nullptr) return;
  sleep_bound_ = ours;
  const jmethodID bind = jni->GetStaticMethodID(helper_, kBind, text_of(HelperNative::kBindSleep).descriptor);
  if (bind != nullptr) jni->CallStaticVoidMethod(helper_, bind, ours ? JNI_TRUE : JNI_FALSE);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

// --- what callouts report -------------------------------------------------------------------------------------------

// Frame 0 is the native method, frame 1 the helper method that called it, frame 2 the method with the callout. The
// class is reported before its methods.
jmethodID MethodEvents::method_of(JNIEnv* jni, MethodSlot& slot) {
  jmethodID method = slot.id.load(std::memory_order_acquire);
  if (method != nullptr) return method;
  jlocation location = 0;
  if (bridge_.jvmti->GetFrameLocation(nullptr, 2, &method, &location) != JVMTI_ERROR_NONE) return nullptr;
  LocalFrame frame(jni, 4);
  jclass klass = nullptr;
  if (bridge_.jvmti->GetMethodDeclaringClass(method, &klass) == JVMTI_ERROR_NONE) bridge_.defined_class(jni, klass);
  slot.id.store(method, std::memory_order_release);
  return method;
}

void MethodEvents::send(JNIEnv* jni, jint type, jmethodID method) const {
  JVMPI_Event event;
  event.event_type = type;
  event.env_id = jni;
  event.u.method.method_id = method;
  bridge_.notify(event);
}

// Bytecode cannot pass a constructor's receiver before it is initialized. The JVM can give it if METHOD_ENTRY2 was on
// at its start (can_access_local_variables).
jobject MethodEvents::receiver_of_constructor(const MethodSlot& slot) const {
  jobject receiver = nullptr;
  if (!slot.is_constructor || bridge_.jvmti->GetLocalInstance(nullptr, 2, &receiver) != JVMTI_ERROR_NONE)
    return nullptr;
  return receiver;
}

void MethodEvents::entered(JNIEnv* jni, jint number, jobject receiver) {
  MethodSlot& slot = table_.at(static_cast<std::uint32_t>(number));
  ThreadRecord* record = bridge_.current_thread(jni);
  if (record == nullptr) return;
  jmethodID method = method_of(jni, slot);
  if (method == nullptr) return;
  if (bridge_.wants(JVMPI_EVENT_METHOD_EXIT)) record->calls.push(static_cast<std::uint32_t>(number), slot.open_start);
  if (bridge_.wants(JVMPI_EVENT_METHOD_ENTRY)) send(jni, JVMPI_EVENT_METHOD_ENTRY, method);
  if (!bridge_.wants(JVMPI_EVENT_METHOD_ENTRY2)) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_METHOD_ENTRY2, jni);
  event.u.method_entry2.method_id = method;
  jobject target = receiver != nullptr ? receiver : receiver_of_constructor(slot);
  event.u.method_entry2.obj_id = bridge_.defined_object(jni, target);
  bridge_.notify(event);
  if (receiver == nullptr && target != nullptr) jni->DeleteLocalRef(target);
}

void MethodEvents::exited(JNIEnv* jni, jint number) {
  MethodSlot& slot = table_.at(static_cast<std::uint32_t>(number));
  ThreadRecord* record = bridge_.current_thread(jni);
  if (record == nullptr) return;
  jmethodID method = method_of(jni, slot);
  if (method == nullptr || !bridge_.wants(JVMPI_EVENT_METHOD_EXIT)) return;
  record->calls.pop(static_cast<std::uint32_t>(number), [&](std::uint32_t lost) {
    send(jni, JVMPI_EVENT_METHOD_EXIT, table_.at(lost).id.load(std::memory_order_acquire));
  });
  send(jni, JVMPI_EVENT_METHOD_EXIT, method);
}

void MethodEvents::allocated(JNIEnv* jni, jobject object) {
  if (!bridge_.is_live() || object == nullptr || !bridge_.wants(JVMPI_EVENT_OBJECT_ALLOC)) return;
  LocalFrame frame(jni, 8);
  jlong size = 0;
  bridge_.jvmti->GetObjectSize(object, &size);
  bridge_.object_allocated(jni, object, jni->GetObjectClass(object), size);
}

}  // namespace jtrace::agent::jvmpi
