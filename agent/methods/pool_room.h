// How much the constant pool of a class may still grow. A redefinition appends each constant that it does not find in
// the pool, and removes none. Some constants are never found (NaN, which equals nothing: each redefinition of an
// unchanged class doubles them; a Throwable in a catch clause, JDK-8308762). So a class that is redefined often
// outgrows the 65,535 entries that bytecode can refer to. HotSpot before JDK 23 does not check this (JDK-8311076): it
// damages its memory or never returns (ConstantPool::hash_entries_to).
#pragma once

#include <jvmti.h>

namespace jtrace::agent {

// True if the JVM checks that itself and refuses.
bool checks_pool_room(jvmtiEnv* jvmti);

// True if a class may get callouts: its pool has room for that redefinition and for the one that removes them, even if
// every constant is appended again. Needs can_get_constant_pool; true if it is not known.
bool has_pool_room(jvmtiEnv* jvmti, jclass klass);
// The same, only for the redefinition that removes them.
bool has_room_to_restore(jvmtiEnv* jvmti, jclass klass);

}  // namespace jtrace::agent
