// The profiler's library: its path, whether it can be loaded, its entry point.
#pragma once

#include <jni.h>

#include <cstddef>

namespace jtrace::agent::jvmpi {

using OnLoad = jint(JNICALL*)(JavaVM*, char*, void*);

// The fault of a library. The numbers are the results of Agent_OnAttach (docs/jvmpi.md), the only thing that a tool
// gets.
enum class LoadFault : jint {
  kNone = 0,
  kNoPath = 1,         // no library was named
  kMissing = 2,        // there is no such file, or it may not be read
  kOtherMachine = 3,   // 32-bit, another instruction set, not an ELF library
  kNotLoadable = 4,    // the dynamic linker refused it
  kNoEntry = 5,        // it has no JVM_OnLoad
  kRefused = 6,        // JVM_OnLoad failed
  kNoNotifyEvent = 7,  // JVM_OnLoad set none
  kSecond = 8,         // this JVM has a profiler
  kNoInterface = 9,    // this JVM lacks what the bridge needs
};

struct ProfilerLibrary {
  OnLoad on_load = nullptr;
  LoadFault fault = LoadFault::kNone;
};

// `name` of the option: a path if it has a '/', otherwise libNAME.so in `jdk_folder` (may be null), or where the
// dynamic linker searches. `why` gets one line for each fault.
ProfilerLibrary load_profiler(const char* name, const char* jdk_folder, char* why, std::size_t size);

}  // namespace jtrace::agent::jvmpi
