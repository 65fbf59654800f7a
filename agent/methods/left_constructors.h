// Constructors that an exception of super() has left. No handler may cover that call (code_callouts.cpp), so no callout
// sees it. The exit of a traced caller shows it; otherwise the real stack of the thread does. The real stack is read
// before entries are written late, when a stack of open calls is full, and when a thread takes a new chunk; always on
// that thread itself.
#pragma once

#include <jni.h>

#include <cstdint>

#include "agent/methods/callout_guard.h"
#include "agent/methods/open_calls.h"

namespace jtrace::agent {

// With --slower-than: removes them from the thread's open calls; if the trace has the entry of one, it gets an exit.
void drop_left_constructors(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack);

// The same for a full stack. After a look that made little room there is none for 10 ms, longer if the real stack is
// deep. True if the stack has room.
bool make_room(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack);

// Without --slower-than: writes which one the thread is in, at the same moments. True if its chunk may have changed.
bool write_constructor(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread);

}  // namespace jtrace::agent
