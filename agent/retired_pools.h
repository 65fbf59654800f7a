// Where the pools of sessions that have ended lay.
//
// A thread may be within a probe with an address of its chunk, and something may hold it there: a debugger has
// suspended it, or it gets no processor. What it writes when it goes on must meet memory that is nobody's. So the place
// of a pool stays taken by empty memory, for good: that costs addresses alone (the kernel makes one mapping of
// neighbours, and gives pages to what is touched). Where addresses are limited (RLIMIT_AS) the last eight places stay.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

namespace jtrace::agent {

// Takes the mapping of a pool away from [base, base + size) and keeps its place.
void retire_pool(void* base, std::uint64_t size);

}  // namespace jtrace::agent
