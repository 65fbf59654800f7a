// The calling thread as the native half of the callouts sees it.
#pragma once

#include <jni.h>

#include <cstdint>

#include "agent/methods/callout_guard.h"

namespace jtrace::agent {

// Its threadId; 0 if it has none.
std::uint64_t current_thread(const Recorder& recorder, JNIEnv* jni);

// The time of a call's begin and end as the callouts take it: precise or coarse.
std::uint64_t call_time(const Recorder& recorder);

// Its processor time in ns; 0 for a virtual thread, or without --cpu-time.
std::uint64_t current_cpu_time(const Recorder& recorder, JNIEnv* jni);

// Its chunk, after `current` is defined. `carrier` 0: as before, or the thread itself. nullptr if nothing is to be
// written.
record::ChunkHeader* chunk_for(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t carrier, std::uint64_t current);

// Writes the end of a method's frame on the calling thread into the chunk that chunk_for() gave.
void write_exit(const CalloutGuard& guard, JNIEnv* jni, std::uint32_t method, record::RecordKind kind);

}  // namespace jtrace::agent
