#include "agent/jvmpi/loader_hierarchy.h"

#include "agent/classfile/class_file.h"
#include "agent/jvm_support.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr jsize kBlock = 16384;

}  // namespace

bool LoaderMethods::learn(JNIEnv* jni) {
  LocalFrame frame(jni, 8);
  jclass loader_class = jni->FindClass("java/lang/ClassLoader");
  jclass stream = jni->FindClass("java/io/InputStream");
  if (loader_class != nullptr && stream != nullptr) {
    constexpr char kGet[] = "(Ljava/lang/String;)Ljava/io/InputStream;";
    find_loaded_class = jni->GetMethodID(loader_class, "findLoadedClass", "(Ljava/lang/String;)Ljava/lang/Class;");
    get_resource = jni->GetMethodID(loader_class, "getResourceAsStream", kGet);
    get_system_resource = jni->GetStaticMethodID(loader_class, "getSystemResourceAsStream", kGet);
    read = jni->GetMethodID(stream, "read", "([B)I");
    close = jni->GetMethodID(stream, "close", "()V");
  }
  if (jni->ExceptionCheck()) {
    jni->ExceptionClear();
    return false;
  }
  loader = static_cast<jclass>(jni->NewGlobalRef(loader_class));
  return loader != nullptr;
}

jstring LoaderHierarchy::text(std::string_view name, std::string_view suffix, char separator) {
  classfile::Bytes made;
  for (const char each : name) classfile::put1(made, static_cast<unsigned char>(each == '/' ? separator : each));
  classfile::put_bytes(made, suffix.data(), suffix.size());
  classfile::put1(made, 0);
  return jni_->NewStringUTF(reinterpret_cast<const char*>(made.data()));
}

LoaderHierarchy::Answer LoaderHierarchy::super_of(std::string_view name) {
  LocalFrame frame(jni_, 16);
  Answer answer;
  if (loader_ != nullptr) answer = of_loaded(name);
  if (!answer.is_known) answer = of_class_file(name);
  jni_->ExceptionClear();
  return answer;
}

LoaderHierarchy::Answer LoaderHierarchy::of_loaded(std::string_view name) {
  jstring dotted = text(name, "", '.');
  if (dotted == nullptr) return {};
  auto* klass = static_cast<jclass>(jni_->CallObjectMethod(loader_, methods_.find_loaded_class, dotted));
  if (jni_->ExceptionCheck()) jni_->ExceptionClear();
  if (klass == nullptr) return {};
  jboolean is_interface = JNI_FALSE;
  jvmti_->IsInterface(klass, &is_interface);
  jclass super = jni_->GetSuperclass(klass);
  if (super == nullptr) return {true, is_interface == JNI_TRUE, {}};
  JvmtiText signature(jvmti_);
  jvmti_->GetClassSignature(super, signature.out(), nullptr);
  const std::string_view internal = internal_name(signature.view());
  super_.assign(internal.begin(), internal.end());
  return {!internal.empty(), is_interface == JNI_TRUE, {reinterpret_cast<const char*>(super_.data()), super_.size()}};
}

LoaderHierarchy::Answer LoaderHierarchy::of_class_file(std::string_view name) {
  jstring path = text(name, ".class", '/');
  if (path == nullptr) return {};
  jobject stream = loader_ != nullptr
                       ? jni_->CallObjectMethod(loader_, methods_.get_resource, path)
                       : jni_->CallStaticObjectMethod(methods_.loader, methods_.get_system_resource, path);
  if (jni_->ExceptionCheck() || stream == nullptr) return {};
  const bool is_whole = read_all(stream);
  jni_->ExceptionClear();
  jni_->CallVoidMethod(stream, methods_.close);
  classfile::ClassFile klass;
  if (!is_whole || !klass.parse(file_) || klass.name() != name) return {};
  return {true, klass.is_interface(), klass.super_name()};
}

bool LoaderHierarchy::read_all(jobject stream) {
  file_.clear();
  jbyteArray block = jni_->NewByteArray(kBlock);
  if (block == nullptr) return false;
  for (;;) {
    const jint count = jni_->CallIntMethod(stream, methods_.read, block);
    if (jni_->ExceptionCheck()) return false;
    if (count < 0) return true;
    const std::size_t size = file_.size();
    file_.resize(size + static_cast<std::size_t>(count));
    jni_->GetByteArrayRegion(block, 0, count, reinterpret_cast<jbyte*>(file_.data() + size));
  }
}

}  // namespace jtrace::agent::jvmpi
