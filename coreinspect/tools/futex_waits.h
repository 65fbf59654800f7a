// The threads that sleep in futex(2): what each of them waits for, and, where that is a mutex of glibc, who has it.
//
// Of a live target it is read from /proc without a stop; of a core from the registers. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/futex_call.h"
#include "target/target.h"

namespace jtrace::coreinspect {

struct FutexWait {
  pid_t tid = 0;               // in the innermost pid namespace of the process, as its own structures have it
  std::string name;            // comm; "" in a core
  std::uint64_t switches = 0;  // how often it has left a processor: the same number later means that it has not run
  target::FutexCall call;
};
std::vector<FutexWait> read_futex_waits(const target::Target& target);

// How often a thread has left a processor: voluntary_ctxt_switches and nonvoluntary_ctxt_switches of its status file
// (proc_pid_status(5)).
std::uint64_t count_of_switches(std::string_view status);
// The first of them alone: how often it has waited for something. Nothing if the kernel does not report it.
std::optional<std::uint64_t> count_of_waits(std::string_view status);

// A mutex of glibc that a thread waits for: pthread_mutex_t of x86-64 and aarch64 (struct_mutex.h): the word, a count,
// the owner's id, the number of users, the kind.
struct NativeMutex {
  target::Address address = 0;
  pid_t owner = 0;  // in the innermost pid namespace of the process
  bool operator==(const NativeMutex&) const = default;
};
// Nothing if the word is not such a mutex, or the mutex is free. `tids`: the threads of the process.
std::optional<NativeMutex> native_mutex_of(const target::MemoryReader& memory, const target::FutexCall& call,
                                           const std::vector<pid_t>& tids);

}  // namespace jtrace::coreinspect
