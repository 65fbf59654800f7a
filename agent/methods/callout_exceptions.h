// What the callouts at athrow, at handlers and where an exception leaves a frame record of it. No Java code runs for
// it: the fields of java.lang.Throwable are read.
#pragma once

#include <jni.h>

#include <cstdint>

namespace jtrace::agent {

class CalloutGuard;

// Fields of the JDK's own classes (8 to 27), 0 if a JDK has none: it is not read then.
struct ThrowableFields {
  jfieldID message = nullptr;     // Throwable.detailMessage
  jfieldID cause = nullptr;       // Throwable.cause; the exception itself where none was given
  jfieldID suppressed = nullptr;  // Throwable.suppressedExceptions: read where it is an ArrayList
  jfieldID elements = nullptr;    // ArrayList.elementData
  jfieldID size = nullptr;        // ArrayList.size
  jclass array_list = nullptr;    // global reference

  void find(JNIEnv* jni);
  void release(JNIEnv* jni);
};

enum class ExceptionPlace : std::uint8_t { kThrow, kHandler, kLeaves };

struct ExceptionSite {
  ExceptionPlace place;
  std::uint32_t line = 0;   // of the athrow or the handler; 0: not known
  std::uint16_t flags = 0;  // of the record, for a handler
};

// Writes the record for `thrown` in a frame of the method. The guard's producer has a chunk.
void write_exception(const CalloutGuard& guard, JNIEnv* jni, jobject thrown, const ExceptionSite& site,
                     std::uint32_t method);

}  // namespace jtrace::agent
