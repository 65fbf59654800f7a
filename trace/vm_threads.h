// threadIds of threads that are not a java.lang.Thread (of the collector, the compilers).
#pragma once

#include <cstdint>

namespace jtrace::trace {

// Plus the thread's tid in the JVM's pid namespace. No java.lang.Thread reaches so large an id.
inline constexpr std::uint64_t kVmThreadBase = 1'000'000'000'000;

}  // namespace jtrace::trace
