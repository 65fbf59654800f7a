// The vector registers of a stopped thread: a compiler may keep any value there, in the form of its memory. Threads:
// that of the tracer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace jtrace::target {

// A set of registers by its ELF note type; empty if this machine or kernel has none. At most `room` bytes.
std::vector<std::byte> register_set(pid_t tid, std::uint32_t type, std::size_t room);
// The set kVectorsNote (target/native_registers.h).
std::vector<std::byte> vector_set(pid_t tid);
// Those of its words (8 bytes) that are not 0.
std::vector<std::uint64_t> words_of_set(std::span<const std::byte> set);

}  // namespace jtrace::target
