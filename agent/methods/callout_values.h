// Arguments and return values: the functions of the callout class's value() methods.
#pragma once

#include <jni.h>

#include <cstdint>

#include "agent/callback_guard.h"
#include "agent/methods/open_calls.h"

namespace jtrace::agent {

// One value as a callout passes it.
struct CalloutValue {
  std::uint64_t bits;  // of a primitive
  jobject object;
  bool is_object;
  jint position;  // of the argument, from 0; record::kResultPosition
  jint number;    // of the method
};

// With --slower-than the value is kept until the call turns out to be slow.
void write_value(JNIEnv* jni, const CalloutValue& value);

// The id of the string's definition: its first characters (record::kMostText), 0: there was no room.
std::uint64_t define_text(const CallbackGuard& guard, JNIEnv* jni, jstring string);

// Writes the kept values of the call at that depth: its arguments, or its result. The calling thread has a chunk.
void write_kept(const CallbackGuard& guard, const OpenCalls::Stack& stack, std::uint64_t depth, std::uint32_t method,
                bool results);

}  // namespace jtrace::agent
