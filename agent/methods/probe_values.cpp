#include "agent/methods/probe_values.h"

#include <atomic>

#include "agent/methods/probe_thread.h"
#include "agent/registry.h"

namespace jtrace::agent {
namespace {

// The beginning of a string, defined as a text. False where it found no room.
bool define_text(AgentSession& session, JNIEnv* jni, jstring string, std::uint64_t id) {
  const jsize length = jni->GetStringLength(string);
  const jsize shown = length < record::kMostText ? length : record::kMostText;
  char text[3 * record::kMostText + 1];  // modified UTF-8 takes three bytes a char at the most, and a NUL
  jni->GetStringUTFRegion(string, 0, shown, text);
  std::size_t size = 0;
  while (size < sizeof text && text[size] != 0) ++size;  // a char 0 is two other bytes there
  Definition definition(record::DefinitionKind::kText, id);
  definition.put(static_cast<std::uint32_t>(length));
  definition.put_text(std::string_view(text, size));
  return session.definitions.append(definition);
}

record::ValueKind describe(AgentSession& session, JNIEnv* jni, jobject object, std::uint64_t& bits) {
  static constinit std::atomic<std::uint64_t> texts{1};
  if (object == nullptr) return record::ValueKind::kNull;
  jclass type = jni->GetObjectClass(object);
  if (jni->IsSameObject(type, session.string_class)) {
    bits = texts.fetch_add(1, std::memory_order_relaxed);
    return define_text(session, jni, static_cast<jstring>(object), bits) ? record::ValueKind::kText
                                                                         : record::ValueKind::kUnknown;
  }
  if (!session.registry->class_is_included(jni, type)) return record::ValueKind::kUnknown;
  bits = session.registry->object_id(jni, object);
  return bits != 0 ? record::ValueKind::kObject : record::ValueKind::kUnknown;
}

}  // namespace

void write_value(JNIEnv* jni, const ProbeValue& value) {
  CallbackGuard guard;
  if (!guard || guard.session().methods == nullptr) return;
  AgentSession& session = guard.session();
  LocalFrame frame(jni, 8);
  if (chunk_for(guard, jni, 0, current_thread(session, jni)) == nullptr) return;
  record::ValueRecord made{};
  made.header.number = static_cast<std::uint32_t>(value.number);
  made.header.flags = static_cast<std::uint16_t>(value.position);
  made.bits = value.bits;
  made.kind = value.is_object ? describe(session, jni, value.object, made.bits) : record::ValueKind::kPrimitive;
  guard.write(made, record::RecordKind::kValue);
}

}  // namespace jtrace::agent
