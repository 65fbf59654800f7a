#include "agent/methods/callout_exceptions.h"

#include "agent/methods/callout_guard.h"
#include "agent/methods/callout_values.h"

namespace jtrace::agent {
namespace {

constexpr jint kMostSuppressed = 8;  // of one exception
constexpr int kMostCauses = 16;      // that are looked through: causes may form a circle

jfieldID field_of(JNIEnv* jni, jclass type, const char* name, const char* descriptor) {
  if (type == nullptr) return nullptr;
  jfieldID field = jni->GetFieldID(type, name, descriptor);
  if (field == nullptr) jni->ExceptionClear();
  return field;
}

jobject cause_of(JNIEnv* jni, jobject thrown, const ThrowableFields& fields) {
  jobject cause = jni->GetObjectField(thrown, fields.cause);
  return cause == nullptr || jni->IsSameObject(cause, thrown) ? nullptr : cause;
}

// The nearest of the causes that was thrown in the trace: a program may wrap what it caught in several new exceptions
// and throw the outermost alone. If none was, the cause itself. Null: none.
jobject nearest_thrown_cause(Registry& registry, JNIEnv* jni, jobject thrown, const ThrowableFields& fields) {
  jobject direct = cause_of(jni, thrown, fields);
  jobject each = direct;
  for (int i = 0; i < kMostCauses && each != nullptr; ++i) {
    if (registry.was_thrown(each)) return each;
    jobject next = cause_of(jni, each, fields);
    if (each != direct) jni->DeleteLocalRef(each);
    each = next;
  }
  if (each != nullptr && each != direct) jni->DeleteLocalRef(each);
  return direct;
}

// Cause and message are read at an exception's first record, and at each athrow: it may have got a cause before that.
void describe(const CalloutGuard& guard, JNIEnv* jni, jobject thrown, record::ExceptionRecord& made) {
  Recorder& recorder = guard.recorder();
  const ThrowableFields& fields = guard.tracer().throwable();
  if (fields.cause != nullptr) {
    jobject cause = nearest_thrown_cause(*recorder.registry, jni, thrown, fields);
    if (cause != nullptr) made.cause = recorder.registry->object_id(jni, cause);
  }
  if (fields.message == nullptr || !recorder.config.has_flag(record::kExceptionMessages)) return;
  auto* message = static_cast<jstring>(jni->GetObjectField(thrown, fields.message));
  if (message != nullptr) made.text = define_text(guard, jni, message);
}

// Before the record of the exception that suppresses them.
void write_suppressed(const CalloutGuard& guard, JNIEnv* jni, jobject thrown, const record::ExceptionRecord& by) {
  const ThrowableFields& fields = guard.tracer().throwable();
  if (fields.suppressed == nullptr || fields.array_list == nullptr || by.object == 0) return;
  jobject list = jni->GetObjectField(thrown, fields.suppressed);
  if (list == nullptr || !jni->IsSameObject(jni->GetObjectClass(list), fields.array_list)) return;
  auto* elements = static_cast<jobjectArray>(jni->GetObjectField(list, fields.elements));
  if (elements == nullptr) return;
  const jint size = jni->GetIntField(list, fields.size);
  const jint room = jni->GetArrayLength(elements);
  for (jint i = 0; i < size && i < room && i < kMostSuppressed; ++i) {
    jobject each = jni->GetObjectArrayElement(elements, i);
    if (each == nullptr) continue;
    record::SuppressedRecord made{};
    made.header.number = by.header.number;
    made.object = guard.recorder().registry->object_id(jni, each);
    made.by = by.object;
    if (made.object != 0) guard.write(made, record::RecordKind::kSuppressed);
    jni->DeleteLocalRef(each);
  }
}

}  // namespace

void ThrowableFields::find(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  jclass throwable = jni->FindClass("java/lang/Throwable");
  if (throwable == nullptr) return jni->ExceptionClear();
  message = field_of(jni, throwable, "detailMessage", "Ljava/lang/String;");
  cause = field_of(jni, throwable, "cause", "Ljava/lang/Throwable;");
  suppressed = field_of(jni, throwable, "suppressedExceptions", "Ljava/util/List;");
  jclass list = jni->FindClass("java/util/ArrayList");
  if (list == nullptr) return jni->ExceptionClear();
  elements = field_of(jni, list, "elementData", "[Ljava/lang/Object;");
  size = field_of(jni, list, "size", "I");
  if (elements != nullptr && size != nullptr) array_list = static_cast<jclass>(jni->NewGlobalRef(list));
}

void ThrowableFields::release(JNIEnv* jni) {
  if (array_list != nullptr) jni->DeleteGlobalRef(array_list);
  array_list = nullptr;
}

void write_exception(const CalloutGuard& guard, JNIEnv* jni, jobject thrown, const ExceptionSite& site,
                     std::uint32_t method) {
  const ExceptionPlace place = site.place;
  Recorder& recorder = guard.recorder();
  record::ExceptionRecord made{};
  made.header.number = method;
  made.header.flags = place == ExceptionPlace::kLeaves ? record::kLeavesFrame : site.flags;
  made.line = site.line;
  jint hash = 0;
  recorder.jvmti->GetObjectHashCode(thrown, &hash);
  made.handle = static_cast<std::uint32_t>(hash);
  const bool is_known = recorder.registry->is_known(thrown);
  made.object = recorder.registry->object_id(jni, thrown);
  if (!is_known || place == ExceptionPlace::kThrow) describe(guard, jni, thrown, made);
  recorder.registry->note_thrown(thrown);
  if (place == ExceptionPlace::kThrow) write_suppressed(guard, jni, thrown, made);
  guard.write(made, place == ExceptionPlace::kHandler ? record::RecordKind::kCatch : record::RecordKind::kThrow);
}

}  // namespace jtrace::agent
