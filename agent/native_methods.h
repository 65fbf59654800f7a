// Native methods of the agent's classes: their rows for RegisterNatives, and a check at compile time that a function
// fits the descriptor. The JVM does not check this.
#pragma once

#include <jni.h>

#include <string_view>
#include <type_traits>

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
inline constexpr std::string_view kDescriptorOf<jboolean> = "Z";

// Takes a parameter's or the result's type from the front of the descriptor. A jobject is of any class.
template <class Type>
constexpr bool take_type(std::string_view& descriptor) {
  constexpr std::string_view kWanted = std::is_same_v<Type, jobject> ? "L" : kDescriptorOf<Type>;
  if (!descriptor.starts_with(kWanted)) return false;
  const std::size_t size = std::is_same_v<Type, jobject> ? descriptor.find(';') + 1 : kWanted.size();
  if (size == 0) return false;
  descriptor.remove_prefix(size);
  return true;
}

// A static native method: JNIEnv*, its class, then the arguments (JNI, "Native Method Arguments").
template <class Result, class... Arguments>
constexpr bool takes_descriptor(Result (*)(JNIEnv*, jclass, Arguments...), std::string_view descriptor) {
  const auto take = [&descriptor](char mark) {
    if (!descriptor.starts_with(mark)) return false;
    descriptor.remove_prefix(1);
    return true;
  };
  return take('(') && (take_type<Arguments>(descriptor) && ...) && take(')') && take_type<Result>(descriptor) &&
         descriptor.empty();
}

// JNINativeMethod has no const.
template <class Function>
JNINativeMethod native_method(const char* name, const char* descriptor, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(descriptor), reinterpret_cast<void*>(function)};
}

}  // namespace jtrace::agent
