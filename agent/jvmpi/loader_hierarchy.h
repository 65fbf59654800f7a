// LoaderHierarchy: superclasses by name, as a class loader would find them; no class is loaded for it. A class that the
// loader knows already is asked directly; otherwise the class file is read (ClassLoader.getResourceAsStream), which may
// run code of the loader.
//
// Threads: that of the JNIEnv, in the live phase, with no exception pending.
#pragma once

#include <jvmti.h>

#include "agent/classfile/bytes.h"
#include "agent/classfile/class_hierarchy.h"

namespace jtrace::agent::jvmpi {

// The methods of Java that are called; valid for the life of the JVM.
struct LoaderMethods {
  // False: this JVM has other methods.
  bool learn(JNIEnv* jni);

  jclass loader = nullptr;  // global reference
  jmethodID find_loaded_class = nullptr;
  jmethodID get_resource = nullptr;
  jmethodID get_system_resource = nullptr;
  jmethodID read = nullptr;
  jmethodID close = nullptr;
};

class LoaderHierarchy final : public classfile::ClassHierarchy {
 public:
  // `loader`: null for the boot loader.
  LoaderHierarchy(jvmtiEnv* jvmti, JNIEnv* jni, const LoaderMethods& methods, jobject loader)
      : jvmti_(jvmti), jni_(jni), methods_(methods), loader_(loader) {}

  Answer super_of(std::string_view name) override;

 private:
  Answer of_loaded(std::string_view name);
  Answer of_class_file(std::string_view name);
  jstring text(std::string_view name, std::string_view suffix, char separator);
  bool read_all(jobject stream);

  jvmtiEnv* jvmti_;
  JNIEnv* jni_;
  const LoaderMethods& methods_;
  jobject loader_;
  classfile::Bytes file_;
  classfile::Bytes super_;
};

}  // namespace jtrace::agent::jvmpi
