// CLASS_LOAD, and what OBJECT_ALLOC says of an object's class.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

// False where JVM TI does not tell of the class.
bool send_class_load(Bridge& bridge, JNIEnv* jni, jclass klass, jobjectID id, jint flags);
// CLASS_LOAD of each class that is linked and was not told of.
void report_loaded_classes(Bridge& bridge, JNIEnv* jni);

struct KindOfClass {
  jint is_array = JVMPI_NORMAL_OBJECT;
  jobjectID class_id = nullptr;  // as in obj_alloc
};
KindOfClass kind_of_class(Bridge& bridge, JNIEnv* jni, jclass klass);
// JVMPI's number of the type a signature starts with: JVMPI_CLASS for references.
jint type_of_signature(char first);
// The class of an array class's elements; local reference.
jclass component_of(JNIEnv* jni, jclass array);

}  // namespace jtrace::agent::jvmpi
