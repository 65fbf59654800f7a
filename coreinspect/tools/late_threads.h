// Why a thread does not come to a safepoint: from what the kernel and the VM say about it, read twice.
//
// Values and pure functions, any thread, except read_kernel_facts, which reads /proc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "target/held_thread.h"

namespace jtrace::coreinspect {

// What the kernel says about a thread (proc_pid_stat(5), proc_pid_wchan(5), proc_pid_syscall(5)).
struct KernelFacts {
  char state = '?';                        // R S D T t
  std::optional<std::uint64_t> cpu_ns;     // processor time
  std::string wchan;                       // the kernel function that it waits in; "" or "0": none
  std::string syscall;                     // the number of the system call it is in; "-1": none; "running"
  std::optional<target::HeldThread> held;  // another tracer has it
};
KernelFacts read_kernel_facts(const target::Process& process, pid_t tid);

// Whether it is asleep in a futex.
bool waits_for_lock(const KernelFacts& facts);

// One sentence without a subject: "runs Java code and does not come to a safepoint poll". `vm_state` is that of both
// looks.
std::string why_late(int vm_state, const KernelFacts& before, const KernelFacts& after);
// The same where there is no kernel to ask: a core.
std::string why_late(int vm_state);

}  // namespace jtrace::coreinspect
