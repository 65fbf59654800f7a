// Constructors that an exception has left before super() returned. A handler is not allowed there (code_probes.cpp),
// so no probe sees it. The exit of a traced caller shows it; otherwise the real stack of the thread does. The real
// stack is read before entries are written late, when a stack of open calls is full, and when a thread takes a new
// chunk; always on that thread itself.
#pragma once

#include <jni.h>

#include <cstdint>

#include "agent/methods/open_calls.h"
#include "agent/methods/probe_guard.h"

namespace jtrace::agent {

// With --slower-than: removes them from the thread's open calls; if the trace has the entry of one, it gets an exit.
void drop_left_constructors(const ProbeGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack);

// The same for a full stack. After a look that made little room there is none for 10 ms, longer if the real stack is
// deep. True if the stack has room.
bool make_room(const ProbeGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack);

// Without --slower-than: writes which one the thread is in, at the same moments. True if its chunk may have changed.
bool write_constructor(const ProbeGuard& guard, JNIEnv* jni, std::uint64_t thread);

}  // namespace jtrace::agent
