// The profiler's library: where it is, whether it can be one, its entry point.
#pragma once

#include <jni.h>

#include <cstddef>

namespace jtrace::agent::jvmpi {

using OnLoad = jint(JNICALL*)(JavaVM*, char*, void*);

// What is wrong with a library. The numbers are what Agent_OnAttach returns (docs/jvmpi.md), which is all that a tool
// can learn of it.
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

// `name` as the option has it: a path where it has a '/', else libNAME.so in `jdk_folder` (may be null), or where the
// dynamic linker looks. `why` gets one line for each fault.
ProfilerLibrary load_profiler(const char* name, const char* jdk_folder, char* why, std::size_t size);

}  // namespace jtrace::agent::jvmpi
