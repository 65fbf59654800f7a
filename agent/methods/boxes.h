// Boxes: the numbers in objects of java.lang.Integer and its like, read from their field without calling Java.
//
// Threads: start() and release() as those of MethodTracer; read() any.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>

#include "agent/jvm_support.h"
#include "trace/record/event_record.h"

namespace jtrace::agent {

class Boxes {
 public:
  // A class without the field (java/lang/Integer.java ..., JDK 8 to 27: `value`) is left out.
  void start(JNIEnv* jni) {
    constexpr const char* kNames[kCount] = {"Boolean", "Character", "Byte",  "Short",
                                            "Integer", "Long",      "Float", "Double"};
    for (std::size_t i = 0; i < kCount; ++i) find(jni, i, kNames[i]);
  }
  void release(JNIEnv* jni) {
    for (Box& box : boxes_)
      if (box.type != nullptr) jni->DeleteGlobalRef(box.type);
  }
  // False if `type`, the class of the object, is none of them. `bits`: as on the JVM's stack.
  bool read(JNIEnv* jni, jclass type, jobject object, std::uint64_t& bits, trace::record::ValueKind& kind) const {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (boxes_[i].type == nullptr || !jni->IsSameObject(type, boxes_[i].type)) continue;
      bits = value_of(jni, object, i);
      kind = trace::record::box_kind(i);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kCount = trace::record::kBoxTypes.size();
  struct Box {
    jclass type = nullptr;  // global reference
    jfieldID value = nullptr;
  };

  void find(JNIEnv* jni, std::size_t index, const char* name) {
    char text[32] = "java/lang/";
    std::size_t at = sizeof "java/lang/" - 1;
    while (*name != 0) text[at++] = *name++;
    const char signature[] = {trace::record::kBoxTypes[index], 0};
    LocalFrame frame(jni, 2);
    jclass type = jni->FindClass(text);
    jfieldID value = type == nullptr ? nullptr : jni->GetFieldID(type, "value", signature);
    if (value == nullptr) return jni->ExceptionClear();
    boxes_[index] = {static_cast<jclass>(jni->NewGlobalRef(type)), value};
  }
  template <class Number>
  static std::uint64_t bits_of(Number number) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &number, sizeof number);
    return bits;
  }
  std::uint64_t value_of(JNIEnv* jni, jobject object, std::size_t index) const {
    jfieldID field = boxes_[index].value;
    switch (trace::record::kBoxTypes[index]) {
      case 'Z': return jni->GetBooleanField(object, field);
      case 'C': return jni->GetCharField(object, field);
      case 'B': return bits_of(static_cast<jint>(jni->GetByteField(object, field)));
      case 'S': return bits_of(static_cast<jint>(jni->GetShortField(object, field)));
      case 'I': return bits_of(jni->GetIntField(object, field));
      case 'J': return bits_of(jni->GetLongField(object, field));
      case 'F': return bits_of(jni->GetFloatField(object, field));
      default: return bits_of(jni->GetDoubleField(object, field));
    }
  }

  Box boxes_[kCount];
};

}  // namespace jtrace::agent
