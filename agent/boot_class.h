// Classes of the boot loader: one of jtrace in java.lang, which every class sees, whatever its loader and module; and
// those of the JDK as they are.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "agent/classfile/bytes.h"

namespace jtrace::agent {

// Defines, links and initializes the class and binds its native methods. Null, with `error` set (static text); no
// exception is left pending. ClassPrepare events must reach boot_class_prepared(); they are switched on for it. `name`
// must stay valid (other threads compare their classes with it). One thread at a time.
//
// RegisterNatives on a class of java.base warns on the program's own stdout (JDK 16 and later) unless a class of the
// boot loader is its caller. So the class is linked and initialized by Class.forName, and its natives are bound by the
// ClassPrepare event below that.
jclass define_boot_class(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, classfile::ByteView bytes,
                         const JNINativeMethod* natives, jint count, const char*& error);

// The class of that name ("java/lang/Thread") of the boot loader, a local reference; nullptr: there is none. No
// exception is left pending. It is initialized by this only if `initialized`: FindClass of JNI does it always.
jclass boot_class(JNIEnv* jni, const char* name, bool initialized);

// Call it at every ClassPrepare; it takes one load. True: it was the class that is being defined.
bool boot_class_prepared(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass);

}  // namespace jtrace::agent
