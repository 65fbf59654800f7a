#include "agent/methods/class_index.h"

#include "agent/methods/name_hash.h"
#include "agent/registry.h"

namespace jtrace::agent {
namespace {

// Number of methods to remember (1.5 MB). A forgotten method is looked up again.
constexpr std::size_t kMostMethods = 32768;

}  // namespace

const char* ClassIndex::learn(JNIEnv* jni) {
  LocalFrame frame(jni, 16);
  if (!loaders_.start(jni)) return "java.lang.ClassLoader has no field parent in this JVM";
  const bool listed = for_each_loaded_class(jvmti_, jni, [&](jclass klass) {
    jint status = 0;
    jvmti_->GetClassStatus(klass, &status);
    if ((status & JVMTI_CLASS_STATUS_PREPARED) != 0) add(jni, klass);
  });
  return listed ? nullptr : "the JVM does not list its classes";
}

ClassIndex::Added ClassIndex::add(JNIEnv* jni, jclass klass) {
  JvmtiText signature(jvmti_);
  if (jvmti_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return {};
  // A hidden class: no other class can refer to it by name.
  if (signature.view().find('.') != std::string_view::npos) return {};
  jobject loader = nullptr;
  if (jvmti_->GetClassLoader(klass, &loader) != JVMTI_ERROR_NONE) return {};
  const Added added{loaders_.place_of(jni, loader), hash_of(internal_name(signature.view()))};
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  if (added.loader != Loaders::kNone) loaders_.add_class(jni, added.loader, added.name, klass);
  return added;
}

ClassIndex::Found ClassIndex::find(JNIEnv* jni, std::uint32_t loader, std::uint64_t name) {
  std::uint32_t steps = 0;
  for (std::uint32_t at = loader; at != Loaders::kNone; at = loaders_.parent_of(at), ++steps)
    if (jclass klass = loaders_.find_class(jni, at, name)) return {klass, steps};
  jclass only = loaders_.only_class(jni, name);
  return {only, only == nullptr ? kNot : kOnlyOne};
}

jmethodID ClassIndex::find_method(JNIEnv* jni, jclass klass, std::uint64_t method) {
  // An interface has no superclass, but its users may call the methods of Object.
  lacked_room_ = false;
  jboolean is_interface = JNI_FALSE;
  jvmti_->IsInterface(klass, &is_interface);
  jmethodID found = find_upwards(jni, klass, method, &ClassIndex::find_declared);
  if (found == nullptr && is_interface != JNI_FALSE) found = find_in_object(jni, method);
  return found != nullptr ? found : find_upwards(jni, klass, method, &ClassIndex::find_in_interfaces);
}

jmethodID ClassIndex::find_in_object(JNIEnv* jni, std::uint64_t method) {
  jclass object = loaders_.find_class(jni, Loaders::kBoot, hash_of("java/lang/Object"));
  if (object == nullptr) return nullptr;
  jmethodID found = find_declared(jni, object, method);
  jni->DeleteLocalRef(object);
  return found;
}

// Searches the class and its superclasses.
jmethodID ClassIndex::find_upwards(JNIEnv* jni, jclass klass, std::uint64_t method, Look look) {
  jmethodID found = (this->*look)(jni, klass, method);
  jclass at = found != nullptr ? nullptr : jni->GetSuperclass(klass);
  while (at != nullptr) {
    found = (this->*look)(jni, at, method);
    jclass next = found != nullptr ? nullptr : jni->GetSuperclass(at);
    jni->DeleteLocalRef(at);
    at = next;
  }
  return found;
}

jmethodID ClassIndex::find_in_interfaces(JNIEnv* jni, jclass klass, std::uint64_t method) {
  jint count = 0;
  JvmtiMemory<jclass> interfaces(jvmti_);
  if (jvmti_->GetImplementedInterfaces(klass, &count, interfaces.out()) != JVMTI_ERROR_NONE) return nullptr;
  if (count > 0) accept_references(jni, count);
  jmethodID found = nullptr;
  for (jint i = 0; i < count; ++i) {
    if (found == nullptr) found = find_declared(jni, interfaces[i], method);
    if (found == nullptr) found = find_in_interfaces(jni, interfaces[i], method);
    jni->DeleteLocalRef(interfaces[i]);
  }
  return found;
}

jmethodID ClassIndex::find_declared(JNIEnv* jni, jclass klass, std::uint64_t method) {
  const std::uint64_t class_id = registry_.class_id(jni, klass, 0, true);
  if (class_id == 0) {
    lacked_room_ = true;
    return nullptr;
  }
  if (listed_.find(class_id) == 0) list_methods(klass, class_id);
  const std::uint32_t at = by_method_.find(hash_in(class_id, method));
  return at == 0 ? nullptr : methods_[at - 1];
}

void ClassIndex::list_methods(jclass klass, std::uint64_t class_id) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti_);
  if (jvmti_->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;
  if (methods_.size() + static_cast<std::size_t>(count) > kMostMethods) {
    methods_ = {};
    by_method_ = {};
    listed_ = {};
  }
  listed_.put(class_id, 1);
  for (jint i = 0; i < count; ++i) {
    JvmtiText name(jvmti_);
    JvmtiText descriptor(jvmti_);
    if (jvmti_->GetMethodName(methods[i], name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) continue;
    methods_.push_back(methods[i]);
    by_method_.put(hash_in(class_id, hash_of(name.view(), descriptor.view())),
                   static_cast<std::uint32_t>(methods_.size()));
  }
}

}  // namespace jtrace::agent
