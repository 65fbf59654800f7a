// Sends CLASS_LOAD events, and finds the class of an object for OBJECT_ALLOC.
#pragma once

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {

// False if JVM TI does not report the class.
bool send_class_load(Bridge& bridge, JNIEnv* jni, jclass klass, jobjectID id, jint flags);
// Sends CLASS_LOAD for each linked class for which it was not sent yet.
void report_loaded_classes(Bridge& bridge, JNIEnv* jni);

struct KindOfClass {
  jint is_array = JVMPI_NORMAL_OBJECT;
  jobjectID class_id = nullptr;  // as in obj_alloc
};
KindOfClass kind_of_class(Bridge& bridge, JNIEnv* jni, jclass klass);
// JVMPI's number for the first type of a signature: JVMPI_CLASS for references.
jint type_of_signature(char first);
// The class of the elements of an array class. Returns a local reference.
jclass component_of(JNIEnv* jni, jclass array);

}  // namespace jtrace::agent::jvmpi
