// Checks at compile time that a function fits the descriptor of a native method. The JVM does not check this.
#pragma once

#include <jni.h>

#include <string_view>

namespace jtrace::agent {

template <class Type>
inline constexpr std::string_view kDescriptorOf = "?";
template <>
inline constexpr std::string_view kDescriptorOf<void> = "V";
template <>
inline constexpr std::string_view kDescriptorOf<jint> = "I";
template <>
inline constexpr std::string_view kDescriptorOf<jlong> = "J";
template <>
inline constexpr std::string_view kDescriptorOf<jfloat> = "F";
template <>
inline constexpr std::string_view kDescriptorOf<jdouble> = "D";
template <>
inline constexpr std::string_view kDescriptorOf<jobject> = "Ljava/lang/Object;";

// A static native method: JNIEnv*, its class, then the arguments (JNI, "Native Method Arguments").
template <class Result, class... Arguments>
constexpr bool takes_descriptor(Result (*)(JNIEnv*, jclass, Arguments...), std::string_view descriptor) {
  const auto take = [&descriptor](std::string_view part) {
    if (!descriptor.starts_with(part)) return false;
    descriptor.remove_prefix(part.size());
    return true;
  };
  return take("(") && (take(kDescriptorOf<Arguments>) && ...) && take(")") && take(kDescriptorOf<Result>) &&
         descriptor.empty();
}

}  // namespace jtrace::agent
