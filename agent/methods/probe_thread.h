// The calling thread as the native half of the probes sees it.
#pragma once

#include <jni.h>

#include <cstdint>

#include "agent/agent_session.h"

namespace jtrace::agent {

// Its threadId; 0 where there is none.
std::uint64_t current_thread(AgentSession& session, JNIEnv* jni);

// ns that it has had of a processor; 0 where it is a virtual one, or --cpu-time was not asked for.
std::uint64_t current_cpu_time(AgentSession& session, JNIEnv* jni);

// Its chunk, after `current` is defined. `carrier` 0: as before,
// or the thread itself. nullptr where nothing is to be written.
record::ChunkHeader* chunk_for(const CallbackGuard& guard, JNIEnv* jni, std::uint64_t carrier, std::uint64_t current);

// The end of a method's frame on the calling thread, into the chunk that chunk_for() gave.
void write_exit(const CallbackGuard& guard, JNIEnv* jni, std::uint32_t method, record::RecordKind kind);

}  // namespace jtrace::agent
