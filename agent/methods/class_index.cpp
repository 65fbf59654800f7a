#include "agent/methods/class_index.h"

#include <utility>

#include "agent/agent_session.h"
#include "agent/methods/name_hash.h"
#include "agent/registry.h"

namespace jtrace::agent {

const char* ClassIndex::learn(JNIEnv* jni) {
  LocalFrame frame(jni, 16);
  jclass loader_class = jni->FindClass("java/lang/ClassLoader");
  if (loader_class != nullptr) parent_ = jni->GetFieldID(loader_class, "parent", "Ljava/lang/ClassLoader;");
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (parent_ == nullptr) return "java.lang.ClassLoader has no field parent in this JVM";
  const bool told = for_each_loaded_class(session_.jvmti, jni, [&](jclass klass) {
    jint status = 0;
    session_.jvmti->GetClassStatus(klass, &status);
    if ((status & JVMTI_CLASS_STATUS_PREPARED) != 0) add(jni, klass);
  });
  return told ? nullptr : "the JVM does not tell its classes";
}

void ClassIndex::add(JNIEnv* jni, jclass klass) {
  JvmtiText signature(session_.jvmti);
  if (session_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::uint64_t name = hash_of(internal_name(signature.view()));
  const std::uint32_t first = by_name_.find(name);
  for (std::uint32_t at = first; at != 0; at = classes_[at - 1].next)
    if (jni->IsSameObject(classes_[at - 1].klass, klass)) return;
  const jweak reference = jni->NewWeakGlobalRef(klass);
  if (reference == nullptr) return jni->ExceptionClear();
  classes_.push_back({reference, first});
  by_name_.put(name, static_cast<std::uint32_t>(classes_.size()));
}

void ClassIndex::clear(JNIEnv* jni) {
  for (const Class& each : classes_) jni->DeleteWeakGlobalRef(each.klass);
  classes_.clear();
  by_name_ = {};
}

// Steps from a loader to its parent that lead to `defining`; -1: none do.
int ClassIndex::distance(JNIEnv* jni, jobject loader, jobject defining) const {
  constexpr int kMostParents = 64;
  jobject at = loader == nullptr ? nullptr : jni->NewLocalRef(loader);
  for (int steps = 0; steps < kMostParents; ++steps) {
    if (jni->IsSameObject(at, defining)) {
      if (at != nullptr) jni->DeleteLocalRef(at);
      return steps;
    }
    if (at == nullptr) return -1;
    jobject parent = jni->GetObjectField(at, parent_);
    jni->DeleteLocalRef(at);
    at = parent;
  }
  if (at != nullptr) jni->DeleteLocalRef(at);
  return -1;
}

ClassIndex::Found ClassIndex::find(JNIEnv* jni, jobject loader, std::uint64_t name) {
  Found best;
  int best_distance = -1;
  int count = 0;
  for (std::uint32_t at = by_name_.find(name); at != 0; at = classes_[at - 1].next) {
    auto klass = static_cast<jclass>(jni->NewLocalRef(classes_[at - 1].klass));
    if (klass == nullptr) continue;  // unloaded
    ++count;
    jobject defining = nullptr;
    session_.jvmti->GetClassLoader(klass, &defining);
    const int steps = distance(jni, loader, defining);
    if (defining != nullptr) jni->DeleteLocalRef(defining);
    const bool is_better = best.klass == nullptr || (steps >= 0 && (best_distance < 0 || steps < best_distance));
    if (is_better) best_distance = steps;
    jclass other = is_better ? std::exchange(best.klass, klass) : klass;
    if (other != nullptr) jni->DeleteLocalRef(other);
  }
  if (best_distance < 0 && count != 1) return {};
  best.is_sure = best_distance == 0;
  return best;
}

jmethodID ClassIndex::find_method(JNIEnv* jni, jclass klass, std::uint64_t method) {
  // An interface has no superclass; its users may call what every object has.
  jboolean is_interface = JNI_FALSE;
  session_.jvmti->IsInterface(klass, &is_interface);
  if (is_interface != JNI_FALSE) {
    jmethodID found = find_declared(jni, klass, method);
    if (found == nullptr) found = find_declared(jni, find(jni, nullptr, hash_of("java/lang/Object")).klass, method);
    return found != nullptr ? found : find_in_interfaces(jni, klass, method);
  }
  for (jclass each = klass; each != nullptr; each = jni->GetSuperclass(each))
    if (jmethodID found = find_declared(jni, each, method)) return found;
  for (jclass each = klass; each != nullptr; each = jni->GetSuperclass(each))
    if (jmethodID found = find_in_interfaces(jni, each, method)) return found;
  return nullptr;
}

jmethodID ClassIndex::find_in_interfaces(JNIEnv* jni, jclass klass, std::uint64_t method) {
  jint count = 0;
  JvmtiMemory<jclass> interfaces(session_.jvmti);
  if (session_.jvmti->GetImplementedInterfaces(klass, &count, interfaces.out()) != JVMTI_ERROR_NONE) return nullptr;
  jmethodID found = nullptr;
  for (jint i = 0; i < count; ++i) {
    if (found == nullptr) found = find_declared(jni, interfaces[i], method);
    if (found == nullptr) found = find_in_interfaces(jni, interfaces[i], method);
    jni->DeleteLocalRef(interfaces[i]);
  }
  return found;
}

jmethodID ClassIndex::find_declared(JNIEnv* jni, jclass klass, std::uint64_t method) {
  if (klass == nullptr) return nullptr;
  const std::uint64_t class_id = session_.registry->class_id(jni, klass, 0, true);
  if (class_id == 0) return nullptr;
  if (listed_.find(class_id) == 0) list_methods(klass, class_id);
  const std::uint32_t at = by_method_.find(hash_in(class_id, method));
  return at == 0 ? nullptr : methods_[at - 1];
}

void ClassIndex::list_methods(jclass klass, std::uint64_t class_id) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(session_.jvmti);
  if (session_.jvmti->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;
  listed_.put(class_id, 1);
  for (jint i = 0; i < count; ++i) {
    JvmtiText name(session_.jvmti);
    JvmtiText descriptor(session_.jvmti);
    if (session_.jvmti->GetMethodName(methods[i], name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) continue;
    methods_.push_back(methods[i]);
    by_method_.put(hash_in(class_id, hash_of(name.view(), descriptor.view())),
                   static_cast<std::uint32_t>(methods_.size()));
  }
}

}  // namespace jtrace::agent
