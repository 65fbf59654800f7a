#include "coreinspect/tools/futex_waits.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

std::vector<FutexWait> waits_of_core(const target::CoreFile& core) {
  std::vector<FutexWait> waits;
  for (const target::ThreadRegisters& thread : core.threads())
    if (const auto call = target::futex_of_registers(thread.registers))
      waits.push_back({.tid = thread.tid, .name = "", .call = *call});
  return waits;
}

std::optional<FutexWait> wait_of(const target::Process& process, pid_t tid) {
  const std::string folder = "task/" + std::to_string(tid) + "/";
  const auto syscall = process.read_proc(folder + "syscall");
  const auto call = syscall ? target::futex_of_syscall(*syscall) : std::nullopt;
  if (!call) return std::nullopt;
  const auto text = process.read_proc(folder + "status");
  if (!text) return std::nullopt;
  const target::ProcessStatus status = target::parse_status(*text);
  return FutexWait{.tid = status.nspid.empty() ? tid : status.nspid.back(),
                   .name = status.name,
                   .switches = count_of_switches(*text),
                   .call = *call};
}

}  // namespace

std::uint64_t count_of_switches(std::string_view status) {
  constexpr std::string_view kKey = "voluntary_ctxt_switches:";
  std::uint64_t sum = 0;
  for (const std::string_view line : split(status, '\n'))
    if (const std::size_t at = line.find(kKey); at != line.npos)
      sum += parse_decimal<std::uint64_t>(trimmed(line.substr(at + kKey.size()))).value_or(0);
  return sum;
}

std::optional<std::uint64_t> count_of_waits(std::string_view status) {
  constexpr std::string_view kKey = "voluntary_ctxt_switches:";
  for (const std::string_view line : split(status, '\n'))
    if (line.starts_with(kKey)) return parse_decimal<std::uint64_t>(trimmed(line.substr(kKey.size())));
  return std::nullopt;
}

std::vector<FutexWait> read_futex_waits(const target::Target& target) {
  if (const target::CoreFile* core = target.core()) return waits_of_core(*core);
  std::vector<FutexWait> waits;
  const target::Process* process = target.process();
  const auto tids = process ? process->threads() : std::vector<pid_t>();
  for (const pid_t tid : tids ? *tids : std::vector<pid_t>())
    if (auto wait = wait_of(*process, tid)) waits.push_back(std::move(*wait));
  return waits;
}

std::optional<NativeMutex> native_mutex_of(const target::MemoryReader& memory, const target::FutexCall& call,
                                           const std::vector<pid_t>& tids) {
  constexpr std::uint32_t kLockedWithWaiters = 2;  // lowlevellock.h
  constexpr std::uint32_t kKinds = 4;              // normal, recursive, error checking, adaptive
  if (!call.is_plain_wait() || call.value != kLockedWithWaiters) return std::nullopt;
  const auto words = memory.read<std::array<std::uint32_t, 5>>(call.word);
  if (!words || (*words)[0] != kLockedWithWaiters || ((*words)[4] & 0x7f) >= kKinds) return std::nullopt;
  const auto owner = static_cast<pid_t>((*words)[2]);
  if (std::find(tids.begin(), tids.end(), owner) == tids.end()) return std::nullopt;
  return NativeMutex{call.word, owner};
}

}  // namespace jtrace::coreinspect
