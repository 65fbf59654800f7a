// How much memory of other processes this program has read (ProcessMemory), for those that keep to a budget. Any
// thread.
#pragma once

#include <cstdint>

namespace jtrace::target {

// Of all processes, since the program began.
std::uint64_t bytes_read_of_processes();

}  // namespace jtrace::target
