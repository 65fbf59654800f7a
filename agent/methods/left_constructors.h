// Constructors that an exception has left before super() returned: no handler may be there (code_rewriter.cpp), so no
// probe sees it. The exit of their caller tells, where it is traced; where it is not, the real stack of the thread
// does. It is looked at before entries are written late, where a stack of open calls is full, and when a thread takes a
// new chunk. On the thread whose stack it is.
#pragma once

#include <jni.h>

#include <cstdint>

#include "agent/agent_session.h"
#include "agent/methods/open_calls.h"

namespace jtrace::agent {

// With --slower-than: takes those out of the thread's open calls; where the trace has their entry, it gets an exit.
void drop_left_constructors(const CallbackGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack);

// The same for a full stack. A look that made little room is followed by none for 10 ms, longer where the real stack is
// deep. True: it has room.
bool make_room(const CallbackGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack);

// Without it: writes which one the thread is in, as often. True: its chunk may be another one now.
bool write_constructor(const CallbackGuard& guard, JNIEnv* jni, std::uint64_t thread);

}  // namespace jtrace::agent
