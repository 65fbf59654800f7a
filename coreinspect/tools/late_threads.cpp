#include "coreinspect/tools/late_threads.h"

#include <sys/syscall.h>

#include "base/strings.h"
#include "target/standstill.h"

namespace jtrace::coreinspect {

KernelFacts read_kernel_facts(const target::Process& process, pid_t tid) {
  const std::string folder = "task/" + std::to_string(tid) + "/";
  KernelFacts facts;
  if (const auto text = process.read_proc(folder + "stat")) facts.state = target::parse_state(*text);
  if (const auto text = process.read_proc(folder + "schedstat"))
    facts.cpu_ns = parse_decimal<std::uint64_t>(std::string_view(*text).substr(0, text->find(' ')));
  if (const auto text = process.read_proc(folder + "wchan")) facts.wchan = trimmed(*text);
  if (const auto text = process.read_proc(folder + "syscall"))
    facts.syscall = trimmed(std::string_view(*text).substr(0, text->find(' ')));
  facts.held = target::find_holder(process, tid);
  return facts;
}

bool waits_for_lock(const KernelFacts& facts) {
  return facts.state == 'S' && facts.syscall == std::to_string(SYS_futex);
}

std::string why_late(int vm_state) {
  if ((vm_state & 1) != 0) return "is changing between Java, native code and the VM";
  switch (vm_state) {
    case 2: return "is starting";
    case 6: return "runs in the VM and has not come back to a point where it stops";
    case 8: return "runs Java code and does not come to a safepoint poll";
    default: return "is in a state in which the VM must wait for it";
  }
}

std::string why_late(int vm_state, const KernelFacts& before, const KernelFacts& after) {
  if (after.held && after.held->stands) return "is stopped by " + target::describe_tracer(*after.held);
  if (after.state == 'T' || after.state == 't') return "is stopped (SIGSTOP, or a debugger)";
  const bool used = before.cpu_ns && after.cpu_ns && *after.cpu_ns > *before.cpu_ns;
  const bool waited = before.state != 'R' && after.state != 'R';
  if (!waited || used || !after.cpu_ns) {
    if (!used && before.cpu_ns && after.cpu_ns) return why_late(vm_state) + "; it is ready, but gets no processor";
    return why_late(vm_state);
  }
  const std::string where = after.wchan.empty() || after.wchan == "0" ? "" : " (" + after.wchan + ")";
  // Asleep outside of any system call: the kernel is handling a page fault.
  if (after.syscall == "-1") return "waits in the kernel for a page of memory" + where;
  if (!after.syscall.empty() && after.syscall != "running")
    return "waits in the kernel in system call " + after.syscall + where;
  return "waits in the kernel" + where;
}

}  // namespace jtrace::coreinspect
