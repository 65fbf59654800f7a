// The direct buffers of a JVM, as java.nio.Bits counts them. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

struct DirectMemory {
  std::int64_t reserved = 0, capacity = 0, count = 0;  // bytes, bytes, buffers
  std::optional<std::int64_t> limit;                   // of reserved, bytes (-XX:MaxDirectMemorySize)
};

// Nothing while the class is not loaded: then there are no direct buffers. What is made without it (Unsafe, JNI) is not
// counted.
std::optional<DirectMemory> read_direct_memory(const Inspection& inspection);

}  // namespace jtrace::coreinspect
