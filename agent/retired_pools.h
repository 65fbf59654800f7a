// The addresses at which pools of ended sessions were mapped.
//
// A thread may be suspended within a callout that holds an address of its chunk: by a debugger, or because it
// gets no processor. When it continues, it must write to memory that is not in use. So the range of a pool stays
// reserved by an empty mapping for good. That takes address space only: the kernel joins adjacent mappings
// and gives pages to what is touched. Where address space is limited (RLIMIT_AS) the last eight ranges stay.
//
// Threads: one at a time.
#pragma once

#include <cstdint>

namespace jtrace::agent {

// Replaces the mapping of a pool at [base, base + size) by an empty one.
void retire_pool(void* base, std::uint64_t size);

}  // namespace jtrace::agent
