#include "agent/methods/callees.h"

#include "agent/agent_session.h"
#include "agent/methods/name_hash.h"
#include "agent/registry.h"

namespace jtrace::agent {

using Reference = classfile::ClassFile::Reference;

const char* Callees::start(JNIEnv* jni) {
  if (session_.jvmti->CreateRawMonitor("jtrace callees", &monitor_) != JVMTI_ERROR_NONE)
    return "the JVM gave no raw monitor";
  RawMonitorLock lock(session_.jvmti, monitor_);
  loaders_.push_back(nullptr);
  if (const char* error = index_.learn(jni)) return error;
  is_on_ = true;
  return nullptr;
}

void Callees::stop(JNIEnv* jni) {
  if (monitor_ == nullptr) return;
  RawMonitorLock lock(session_.jvmti, monitor_);
  is_on_ = false;
  index_.clear(jni);
  for (const jweak loader : loaders_)
    if (loader != nullptr) jni->DeleteWeakGlobalRef(loader);
  loaders_.clear();
}

std::uint32_t Callees::index_of(JNIEnv* jni, jobject loader) {
  if (loader == nullptr) return 0;
  for (std::uint32_t i = 1; i < loaders_.size(); ++i)
    if (jni->IsSameObject(loaders_[i], loader)) return i;
  loaders_.push_back(jni->NewWeakGlobalRef(loader));
  return static_cast<std::uint32_t>(loaders_.size() - 1);
}

std::uint32_t Callees::number(JNIEnv* jni, jobject loader, const Reference& callee, bool is_static) {
  RawMonitorLock lock(session_.jvmti, monitor_);
  if (!is_on_) return 0;
  LocalFrame frame(jni, 64);
  // An array's methods are those of its superclass.
  const bool is_array = callee.owner.starts_with('[');
  const std::uint64_t owner = hash_of(is_array ? "java/lang/Object" : callee.owner);
  const std::uint64_t method = hash_of(callee.name, callee.descriptor);
  const std::uint32_t from = index_of(jni, loader);
  const std::uint64_t key = hash_in(from, hash_in(owner, method));
  if (const std::uint32_t known = numbers_.find(key); known != 0) return known;
  const std::uint32_t made = Registry::next_method_ids(1);
  const Meaning meaning = find(jni, loader, owner, method);
  if (!(meaning.method != 0 ? define(made, meaning.method) : define_name(made, callee, is_static))) return 0;
  // No other loader than the JVM's own may define these.
  const bool is_sure = meaning.is_sure || (meaning.method != 0 && (is_array || callee.owner.starts_with("java/")));
  if (!is_sure) {
    unsure_.push_back({owner, method, made, from, by_owner_.find(owner)});
    by_owner_.put(owner, static_cast<std::uint32_t>(unsure_.size()));
  }
  numbers_.put(key, made);
  return made;
}

Callees::Meaning Callees::find(JNIEnv* jni, jobject loader, std::uint64_t owner, std::uint64_t method) {
  const ClassIndex::Found klass = index_.find(jni, loader, owner);
  if (klass.klass == nullptr) return {};
  jmethodID found = index_.find_method(jni, klass.klass, method);
  return {found == nullptr ? 0 : session_.registry->method_id(jni, found), klass.is_sure};
}

bool Callees::define(std::uint32_t number, std::uint64_t method) {
  Definition made(record::DefinitionKind::kStandsFor, number);
  made.put(method);
  return session_.definitions.append(made);
}

bool Callees::define_name(std::uint32_t number, const Reference& callee, bool is_static) {
  const std::uint64_t owner = hash_of(callee.owner);
  std::uint64_t class_id = named_.find(owner);
  if (class_id == 0) {
    class_id = session_.registry->define_named_class(callee.owner);
    if (class_id == 0) return false;
    named_.put(owner, static_cast<std::uint32_t>(class_id));
  }
  Definition made(record::DefinitionKind::kMethod, number);
  made.put(class_id);
  made.put(std::uint32_t{is_static ? classfile::kAccStatic : std::uint16_t{0}});
  made.put(std::int32_t{-1});
  made.put(std::int32_t{-1});
  made.put_text(callee.name);
  made.put_text(callee.descriptor);
  made.put(std::uint32_t{0xffffffff});  // the exceptions are not known
  return session_.definitions.append(made);
}

void Callees::class_prepared(JNIEnv* jni, jclass klass) {
  RawMonitorLock lock(session_.jvmti, monitor_);
  if (!is_on_) return;
  LocalFrame frame(jni, 64);
  index_.add(jni, klass);
  JvmtiText signature(session_.jvmti);
  if (session_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::uint64_t owner = hash_of(internal_name(signature.view()));
  for (std::uint32_t* at = by_owner_.find_place(owner); at != nullptr && *at != 0;) {
    const Unsure& each = unsure_[*at - 1];
    jobject loader = each.loader == 0 ? nullptr : jni->NewLocalRef(loaders_[each.loader]);
    const bool is_gone = each.loader != 0 && loader == nullptr;
    const Meaning meaning = is_gone ? Meaning{0, true} : find(jni, loader, owner, each.method);
    if (meaning.method != 0) define(each.number, meaning.method);
    if (meaning.is_sure) *at = each.next;
    else at = &unsure_[*at - 1].next;
  }
}

}  // namespace jtrace::agent
