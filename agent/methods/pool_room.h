// How much a class's constant pool may still grow. A redefinition appends to the pool what it does not find in
// it, and never takes anything out. Some constants it finds never (NaN, which equals nothing: each redefinition
// doubles those of a class that comes unchanged; a Throwable in a catch clause, JDK-8308762), so a class that
// is redefined again and again outgrows the 65,535 entries that bytecode can name; HotSpot before JDK 23 does
// not look (JDK-8311076) and damages its memory, or never comes back (ConstantPool::hash_entries_to).
#pragma once

#include <jvmti.h>

namespace jtrace::agent {

// Whether the JVM checks that itself and refuses.
bool checks_pool_room(jvmtiEnv* jvmti);

// Whether a class may be given probes: its pool has room for that redefinition and for the one that takes them
// out, even if every constant is appended anew. Needs can_get_constant_pool; true where the JVM does not tell.
bool has_pool_room(jvmtiEnv* jvmti, jclass klass);
// The same, only for the redefinition that takes them out.
bool has_room_to_restore(jvmtiEnv* jvmti, jclass klass);

}  // namespace jtrace::agent
