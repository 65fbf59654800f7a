// Threads of the JDK and the JVM that have nothing to do: whoever looks for what is wrong need not read their stacks.
// Pure.
#pragma once

#include "coreinspect/tools/lock_facts.h"
#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::coreinspect {

// A thread that each JVM has (Finalizer, Signal Dispatcher, C2 CompilerThread0), that waits, for no lock, and has no
// frames but the JDK's. What waits in the VM for its own operation, a safepoint or a lock of the VM has the same state:
// native frames tell, and without them "Attach Listener", which runs such operations for others, is not
// idle. `wait`: what it waits for; null: nothing that is known. `is_awaited`: another thread waits for what it owns.
bool is_idle_of_jdk(const ThreadReport& report, const Wait* wait, bool is_awaited);

}  // namespace jtrace::coreinspect
