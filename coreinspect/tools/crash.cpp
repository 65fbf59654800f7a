#include "coreinspect/tools/crash.h"

#include <csignal>
#include <cstring>

#include "coreinspect/model/core_death.h"
#include "coreinspect/unwind/native_unwinder.h"

namespace jtrace::coreinspect {
namespace {

bool has_fault_address(int signal) { return signal == SIGSEGV || signal == SIGBUS; }

}  // namespace

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return "SIG" + (name ? std::string(name) : std::to_string(number));
}

// The signal that began it is on the stack of the crashed thread, in the signal frame.
std::optional<Crash> crash_in_handler(const Inspection& inspection) {
  const target::CoreFile* core = inspection.target().core();
  if (!core || core->threads().empty()) return std::nullopt;
  const target::ThreadRegisters& first = core->threads().front();
  const auto code = inspection.code();
  const NativeUnwinder unwinder(inspection.target(), inspection.vm().memory(),
                                [&](Address pc) { return code && (*code)->contains(pc); });
  std::optional<Crash> found;
  bool below = false;  // the frame before was that of a signal
  for (const NativeFrame& frame : unwinder.walk(first.registers, true, 0).frames) {
    if (below && found) found->pc = frame.pc;
    below = frame.signal;
    if (!frame.signal || frame.siginfo == 0) continue;
    const auto info = inspection.vm().memory().read<siginfo_t>(frame.siginfo);
    if (!info || info->si_signo <= 0 || info->si_signo >= NSIG) continue;
    found = Crash{.signal = info->si_signo, .thread = first.tid};  // the outermost came first
    if (info->si_code > 0 && has_fault_address(info->si_signo)) found->fault = reinterpret_cast<Address>(info->si_addr);
  }
  return found;
}

std::optional<Crash> find_crash(const Inspection& inspection) {
  const target::CoreFile* core = inspection.target().core();
  if (!core || !core->signal() || core->threads().empty() || !died_by_signal(*core)) return std::nullopt;
  if (auto crash = crash_in_handler(inspection)) return crash;
  const target::CoreSignal& signal = *core->signal();
  if (signal.sent_by && *signal.sent_by != inspection.target().nspid()) return std::nullopt;
  const target::ThreadRegisters& first = core->threads().front();
  Crash crash{.signal = signal.number, .thread = first.tid, .pc = first.registers.pc()};
  if (has_fault_address(signal.number)) crash.fault = signal.fault;
  return crash;
}

}  // namespace jtrace::coreinspect
