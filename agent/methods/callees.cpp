#include "agent/methods/callees.h"

#include "agent/methods/name_hash.h"
#include "agent/registry.h"

namespace jtrace::agent {

using Reference = classfile::ClassFile::Reference;

Callees::Callees(jvmtiEnv* jvmti, Registry& registry, DefinitionStream& definitions)
    : jvmti_(jvmti),
      registry_(registry),
      definitions_(definitions),
      loaders_(jvmti),
      index_(jvmti, registry, loaders_) {}

const char* Callees::start(JNIEnv* jni) {
  if (jvmti_->CreateRawMonitor("jtrace callees", &monitor_) != JVMTI_ERROR_NONE) return "the JVM gave no raw monitor";
  RawMonitorLock lock(jvmti_, monitor_);
  if (const char* error = index_.learn(jni)) return error;
  is_on_ = true;
  return nullptr;
}

void Callees::stop(JNIEnv* jni) {
  if (monitor_ == nullptr) return;
  RawMonitorLock lock(jvmti_, monitor_);
  is_on_ = false;
  loaders_.clear(jni);
}

void Callees::destroy_monitor() {
  if (monitor_ != nullptr) jvmti_->DestroyRawMonitor(monitor_);
  monitor_ = nullptr;
}

std::uint32_t Callees::number(JNIEnv* jni, jobject loader, const Reference& callee, bool is_static) {
  RawMonitorLock lock(jvmti_, monitor_);
  if (!is_on_) return 0;
  LocalFrame frame(jni, 32);
  retry(jni);
  const std::uint32_t from = loaders_.place_of(jni, loader);
  if (from == Loaders::kNone) return 0;
  // An array's methods are those of its superclass.
  const bool is_array = callee.owner.starts_with('[');
  const std::uint64_t owner = hash_of(is_array ? "java/lang/Object" : callee.owner);
  const std::uint64_t method = hash_of(callee.name, callee.descriptor);
  const std::uint64_t key = hash_in(owner, method);
  if (const std::uint32_t known = loaders_[from].numbers.find(key); known != 0) return known;
  const std::uint32_t made = Registry::next_method_ids(1);
  const ClassIndex::Found found = index_.find(jni, from, owner);
  const Defined defined = found.klass == nullptr ? Defined::kIsNot : define(jni, made, found.klass, method);
  if (defined == Defined::kNoRoom) return 0;
  if (defined == Defined::kIsNot && !define_name(made, from, callee, is_static)) return 0;
  // Only the JVM's own loaders may define these.
  const bool is_sure = found.steps == 0 || (defined == Defined::kIs && (is_array || callee.owner.starts_with("java/")));
  if (!is_sure) wait(from, owner, found.steps, {method, made});
  loaders_[from].numbers.put(key, made);
  return made;
}

Callees::Defined Callees::define(JNIEnv* jni, std::uint32_t number, jclass klass, std::uint64_t method) {
  jmethodID found = index_.find_method(jni, klass, method);
  if (found == nullptr) return index_.lacked_room() ? Defined::kNoRoom : Defined::kIsNot;
  const std::uint64_t id = registry_.method_id(jni, found);
  if (id == 0) return Defined::kNoRoom;
  Definition made(number, record::StandsForFields{.method = id});
  return definitions_.append(made) ? Defined::kIs : Defined::kNoRoom;
}

bool Callees::define_name(std::uint32_t number, std::uint32_t loader, const Reference& callee, bool is_static) {
  const std::uint64_t owner = hash_of(callee.owner);
  std::uint64_t class_id = loaders_[loader].named.find(owner);
  if (class_id == 0) {
    class_id = registry_.define_named_class(callee.owner);
    if (class_id == 0) return false;
    loaders_[loader].named.put(owner, class_id);
  }
  Definition made(number,
                  record::MethodFields{.class_id = class_id,
                                       .access = std::uint32_t{is_static ? classfile::kAccStatic : std::uint16_t{0}},
                                       .first_line = -1,
                                       .last_line = -1,
                                       .name = callee.name,
                                       .signature = callee.descriptor,
                                       .exceptions = {record::kNotKnown, {}}});
  return definitions_.append(made);
}

void Callees::wait(std::uint32_t loader, std::uint64_t owner, std::uint32_t steps, WaitingCallees::Callee callee) {
  WaitingCallees* waiting = loaders_.find_waiting(loader, owner);
  if (waiting == nullptr) {
    waiting = &loaders_.add_waiting(loader, owner);
    waiting->steps = steps;
    watch(loader, *waiting);
  }
  waiting->callees.push_back(callee);
}

// Classes that may be a better answer: a class of the loader itself, or of a parent that is nearer than the answer's.
// If there is no answer yet, any class.
void Callees::watch(std::uint32_t loader, WaitingCallees& waiting) {
  loaders_.drop_watches(waiting);
  std::uint32_t at = loader;
  for (std::uint32_t steps = 0; steps < waiting.steps && at != Loaders::kNone; ++steps, at = loaders_.parent_of(at))
    waiting.watches.push_back(loaders_.watches.add(loaders_.watch_key(at, waiting.owner), loader));
  if (waiting.steps == ClassIndex::kNot)
    waiting.watches.push_back(loaders_.watches.add(Loaders::watch_key(waiting.owner), loader));
}

void Callees::class_prepared(JNIEnv* jni, jclass klass) {
  RawMonitorLock lock(jvmti_, monitor_);
  if (!is_on_) return;
  LocalFrame frame(jni, 32);
  retry(jni);
  const ClassIndex::Added added = index_.add(jni, klass);
  if (added.loader == Loaders::kNone) return;
  answer(jni, loaders_.watch_key(added.loader, added.name), added.name);
  if (loaders_.watches.first(Loaders::watch_key(added.name)) == 0) return;
  jclass only = loaders_.only_class(jni, added.name);
  if (only == nullptr) return;
  jni->DeleteLocalRef(only);
  answer(jni, Loaders::watch_key(added.name), added.name);
}

// Asks all watching loaders. An answer removes at most its own node from the list.
void Callees::answer(JNIEnv* jni, std::uint64_t watch_key, std::uint64_t owner) {
  for (std::uint32_t node = loaders_.watches.first(watch_key); node != 0;) {
    const std::uint32_t loader = loaders_.watches.value(node);
    node = loaders_.watches.next(node);
    answer(jni, loader, owner);
  }
}

void Callees::answer(JNIEnv* jni, std::uint32_t loader, std::uint64_t owner) {
  WaitingCallees* waiting = loaders_.find_waiting(loader, owner);
  if (waiting == nullptr || loaders_.is_gone(jni, loader)) return;
  LocalFrame frame(jni, 32);
  const ClassIndex::Found found = index_.find(jni, loader, owner);
  if (found.klass == nullptr || found.steps >= waiting->steps) return;
  if (!define_all(jni, *waiting, found)) return retries_.push_back({loaders_[loader].serial, owner, loader});
  waiting->steps = found.steps;
  if (found.steps == 0) loaders_.drop_waiting(loader, owner);
  else watch(loader, *waiting);
}

// False if there was no room for all definitions. The next call continues where this one stopped.
bool Callees::define_all(JNIEnv* jni, WaitingCallees& waiting, const ClassIndex::Found& found) {
  if (waiting.tried_steps != found.steps) waiting.defined = 0;
  waiting.tried_steps = found.steps;
  for (; waiting.defined < waiting.callees.size(); ++waiting.defined) {
    const WaitingCallees::Callee& each = waiting.callees[waiting.defined];
    if (define(jni, each.number, found.klass, each.method) == Defined::kNoRoom) return false;
  }
  waiting.defined = 0;
  return true;
}

// Retries one of the definitions that found no room.
void Callees::retry(JNIEnv* jni) {
  if (retries_.empty()) return;
  const Retry again = retries_.back();
  retries_.pop_back();
  if (loaders_[again.loader].serial == again.serial) answer(jni, again.loader, again.owner);
}

}  // namespace jtrace::agent
