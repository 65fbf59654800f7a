// FutexCall: the futex(2) call in which a thread sleeps. A value; functions from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "target/memory_reader.h"
#include "target/registers.h"

namespace jtrace::target {

struct FutexCall {
  Address word = 0;             // the first argument
  std::uint32_t operation = 0;  // FUTEX_WAIT, FUTEX_WAIT_BITSET, ... with their flags (linux/futex.h)
  std::uint32_t value = 0;      // that the word had
  bool operator==(const FutexCall&) const = default;
  // Waits for the word to change, and nothing else: what glibc's pthread_mutex_lock does.
  bool is_plain_wait() const;
};

// `text`: /proc/PID/task/TID/syscall (proc_pid_syscall(5)). Nothing if the thread runs or is in another call.
std::optional<FutexCall> futex_of_syscall(std::string_view text);
// The registers of a thread that was stopped in the call.
std::optional<FutexCall> futex_of_registers(const Registers& registers);

}  // namespace jtrace::target
