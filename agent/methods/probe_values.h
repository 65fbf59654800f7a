// Arguments and return values: what the value() methods of the probe class do.
#pragma once

#include <jni.h>

#include <cstdint>

namespace jtrace::agent {

// One value as a probe passes it.
struct ProbeValue {
  std::uint64_t bits;  // of a primitive
  jobject object;
  bool is_object;
  jint position;  // of the argument, from 0; record::kResultPosition
  jint number;    // of the method
};

void write_value(JNIEnv* jni, const ProbeValue& value);

}  // namespace jtrace::agent
