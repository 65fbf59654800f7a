// The probes' Java side: a class in java.lang, defined by the boot loader from bytes that are made here, so that every
// class can see it whatever its loader and module. Its methods write records into the calling thread's chunk with plain
// stores (trace/record/layout.h, kDirect); where there is no room, or the thread has none, they call slow().
//
// One class for each way to take the time, made when it is first needed; they stay in the JVM. Its methods call nothing
// but intrinsics of Unsafe and Thread, which are never rewritten.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <string_view>

#include "agent/classfile/bytes.h"
#include "agent/methods/probe_area.h"

namespace jtrace::agent {

enum class ProbeTime { kCoarse, kPrecise };

// What the class needs to know of this JVM.
struct ProbeClassFacts {
  bool internal_unsafe = false;        // jdk.internal.misc.Unsafe (JDK 9 and later), else sun.misc.Unsafe
  bool virtual_threads = false;        // Thread.currentCarrierThread() (JDK 19 and later)
  std::uint64_t thread_id_offset = 0;  // of Thread.tid, as Unsafe has it
  std::uint32_t chunk_size = 0;
};

std::string_view probe_class_name(ProbeTime time);
classfile::Bytes make_probe_class(ProbeTime time, const ProbeClassFacts& facts, const ProbeArea& area);

// Finds the facts out. nullptr, or why it cannot be (static text). No exception is left pending.
const char* find_probe_facts(JNIEnv* jni, ProbeClassFacts& facts);

// Defines the class, or finds the one that an earlier session, maybe of another copy of this library, has left; its
// native methods (probes.h) are ours from then on. Sets `area` to the one the class refers to. nullptr, or why it
// cannot be (static text).
const char* define_probe_class(jvmtiEnv* jvmti, JNIEnv* jni, ProbeTime time, const ProbeClassFacts& facts,
                               ProbeArea*& area);

// Called at every ClassPrepare: binds the natives of a probe class that is being defined just now. Costs a load
// otherwise.
void probe_class_prepared(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass);

}  // namespace jtrace::agent
