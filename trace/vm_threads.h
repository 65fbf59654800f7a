// Threads that are no java.lang.Thread (of the collector, the compilers): their threadIds.
#pragma once

#include <cstdint>

namespace jtrace::trace {

// + the thread's tid as the JVM's namespace has it. No java.lang.Thread comes to so large an id.
inline constexpr std::uint64_t kVmThreadBase = 1'000'000'000'000;

}  // namespace jtrace::trace
