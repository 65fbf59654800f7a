#include "agent/methods/callout_values.h"

#include <atomic>

#include "agent/classfile/class_rewriter.h"
#include "agent/methods/callout_guard.h"
#include "agent/methods/callout_thread.h"

namespace jtrace::agent {

static_assert(classfile::kResultValue == record::kResultPosition);

namespace {

// The first characters of a string.
struct Text {
  std::uint32_t length = 0;  // chars of the whole string
  std::size_t size = 0;
  char bytes[3 * record::kMostText + 1];  // modified UTF-8 needs at most three bytes for a char, and a NUL

  std::string_view view() const { return {bytes, size}; }
};

void read_text(JNIEnv* jni, jstring string, Text& text) {
  const jsize length = jni->GetStringLength(string);
  text.length = static_cast<std::uint32_t>(length);
  jni->GetStringUTFRegion(string, 0, length < record::kMostText ? length : record::kMostText, text.bytes);
  // a char 0 is encoded in two other bytes
  while (text.size < sizeof text.bytes && text.bytes[text.size] != 0) ++text.size;
}

// Sets `bits` or `text`, depending on the type.
record::ValueKind describe(const CalloutGuard& guard, JNIEnv* jni, jobject object, std::uint64_t& bits, Text& text) {
  if (object == nullptr) return record::ValueKind::kNull;
  jclass type = jni->GetObjectClass(object);
  if (jni->IsSameObject(type, guard.tracer().string_class())) {
    read_text(jni, static_cast<jstring>(object), text);
    return record::ValueKind::kText;
  }
  if (record::ValueKind kind{}; guard.tracer().boxes().read(jni, type, object, bits, kind)) return kind;
  if (!guard.recorder().registry->class_is_included(jni, type)) return record::ValueKind::kUnknown;
  bits = guard.recorder().registry->object_id(jni, object);
  return bits != 0 ? record::ValueKind::kObject : record::ValueKind::kUnknown;
}

// 0 if there is no room.
std::uint64_t define(const CallbackGuard& guard, std::uint32_t length, std::string_view text) {
  static constinit std::atomic<std::uint64_t> texts{1};
  const std::uint64_t id = texts.fetch_add(1, std::memory_order_relaxed);
  Definition definition(id, record::TextFields{.length = length, .text = text});
  return guard.recorder().definitions.append(definition) ? id : 0;
}

// The text of a string is defined before it is used.
void write(const CallbackGuard& guard, record::ValueRecord& made, std::uint32_t length, std::string_view text) {
  if (made.kind == record::ValueKind::kText) {
    made.bits = define(guard, length, text);
    if (made.bits == 0) made.kind = record::ValueKind::kUnknown;
  }
  guard.write(made, record::RecordKind::kValue);
}

// The values of the calling thread; nullptr if it has none and gets none. Callouts release a virtual thread's values
// when it has no open call; a platform thread's are released when it ends.
OpenCalls::Stack* stack_of(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread) {
  Recorder& recorder = guard.recorder();
  if (OpenCalls::Stack* stack = guard.area().open_calls().find(thread)) return stack;
  const CurrentThread current(recorder.jvmti, jni);
  if (thread == 0 || recorder.threads.is_own(thread) || current.get() == nullptr) return nullptr;
  if (!recorder.threads.is_virtual(jni, current.get())) guard.producer().called_out_as = thread;
  return guard.tracer().open_calls_of(thread);
}

// Arguments arrive before their call is pushed, results before it is popped.
void keep(OpenCalls::Stack& stack, const record::ValueRecord& made, const Text& text) {
  std::uint64_t depth = stack.depth;
  if (made.header.flags == record::kResultPosition) {
    if (depth > OpenCalls::kFrames) return;
    const std::uint64_t at = stack.find(made.header.number);
    if (at == 0) return;  // it began before the trace
    depth = at - 1;
  }
  if (depth >= OpenCalls::kFrames) return;
  KeptValues::Value value{};
  value.bits = made.bits;
  value.method = made.header.number;
  value.length = text.length;
  value.depth = static_cast<std::uint16_t>(depth);
  value.position = static_cast<std::uint8_t>(made.header.flags);
  value.kind = static_cast<std::uint8_t>(made.kind);
  stack.values.keep(value, text.view());
}

}  // namespace

void write_value(JNIEnv* jni, const CalloutValue& value) {
  CalloutGuard guard;
  if (!guard) return;
  Recorder& recorder = guard.recorder();
  LocalFrame frame(jni, 8);
  const std::uint64_t thread = current_thread(recorder, jni);
  const bool waits = recorder.config.slower_than != 0;
  OpenCalls::Stack* stack = waits ? stack_of(guard, jni, thread) : nullptr;
  if (waits ? stack == nullptr : chunk_for(guard, jni, 0, thread) == nullptr) return;
  Text text;
  record::ValueRecord made{};
  made.header.number = static_cast<std::uint32_t>(value.number);
  made.header.flags = static_cast<std::uint16_t>(value.position);
  made.bits = value.bits;
  made.kind = value.is_object ? describe(guard, jni, value.object, made.bits, text) : record::ValueKind::kPrimitive;
  if (waits) keep(*stack, made, text);
  else write(guard, made, text.length, text.view());
}

std::uint64_t define_text(const CallbackGuard& guard, JNIEnv* jni, jstring string) {
  Text text;
  read_text(jni, string, text);
  return define(guard, text.length, text.view());
}

void write_kept(const CallbackGuard& guard, const OpenCalls::Stack& stack, std::uint64_t depth, std::uint32_t method,
                bool results) {
  stack.values.for_each(depth, method, results, [&](const KeptValues::Value& each, std::string_view text) {
    record::ValueRecord made{};
    made.header.number = method;
    made.header.flags = each.position;
    made.bits = each.bits;
    made.kind = static_cast<record::ValueKind>(each.kind);
    write(guard, made, each.length, text);
  });
}

}  // namespace jtrace::agent
