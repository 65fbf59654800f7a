#include "agent/methods/pool_room.h"

#include "agent/jvm_fitness.h"
#include "agent/jvm_support.h"

namespace jtrace::agent {
namespace {

constexpr int kFirstThatChecks = 23;
constexpr jint kMostEntries = 65'535;  // JVMS 4.1, constant_pool_count
constexpr jint kCallouts = 500;        // upper bound of what callouts add

// 0 if the JVM does not give the number.
jint entries_of(jvmtiEnv* jvmti, jclass klass) {
  jint count = 0;
  jint size = 0;
  JvmtiMemory<unsigned char> bytes(jvmti);
  return jvmti->GetConstantPool(klass, &count, &size, bytes.out()) == JVMTI_ERROR_NONE ? count : 0;
}

}  // namespace

bool checks_pool_room(jvmtiEnv* jvmti) { return major_version(jvmti) >= kFirstThatChecks; }

bool has_pool_room(jvmtiEnv* jvmti, jclass klass) { return 3 * (entries_of(jvmti, klass) + kCallouts) <= kMostEntries; }

bool has_room_to_restore(jvmtiEnv* jvmti, jclass klass) { return 2 * entries_of(jvmti, klass) <= kMostEntries; }

}  // namespace jtrace::agent
