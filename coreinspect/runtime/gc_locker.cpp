#include "coreinspect/runtime/gc_locker.h"

#include <chrono>
#include <thread>

namespace jtrace::coreinspect {
namespace {

std::optional<target::Address> first_of(const VmSymbols& symbols, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const auto found = symbols.address(name)) return found;
  return std::nullopt;
}

constexpr std::chrono::milliseconds kPassing{20};  // between the request and the safepoint of a collection

std::optional<bool> read_flag(const Vm& vm, target::Address at) {
  const auto flag = vm.target().memory().read<std::uint8_t>(at);
  return flag && *flag <= 1 ? std::optional(*flag == 1) : std::nullopt;
}

// From JDK 25 on every collection sets the flag before its safepoint is asked for and clears it when it is done: native
// code holds it up only where the flag is set and neither is there, for longer than it takes to get from one to the
// other.
std::optional<bool> is_held_up(const Vm& vm, target::Address pending, const IsQuiet& is_quiet) {
  const bool live = vm.target().process() != nullptr;
  for (int looks = live ? 2 : 1; looks > 0; --looks) {
    const auto quiet = is_quiet(), flag = read_flag(vm, pending);
    if (!quiet || !flag) return std::nullopt;
    if (!*quiet || !*flag) return false;
    if (looks > 1) std::this_thread::sleep_for(kPassing);
  }
  return true;
}

}  // namespace

std::optional<GcLocker> read_gc_locker(const Vm& vm, const VmSymbols& symbols, const IsQuiet& is_quiet) {
  if (const auto pending = symbols.address("_ZN8GCLocker22_is_gc_request_pendingE")) {
    const auto held_up = is_held_up(vm, *pending, is_quiet);
    return held_up ? std::optional(GcLocker{.wanted = *held_up, .regions = {}}) : std::nullopt;
  }
  const auto needs = first_of(symbols, {"_ZN8GCLocker9_needs_gcE", "_ZN9GC_locker9_needs_gcE"});
  const auto wanted = needs ? read_flag(vm, *needs) : std::nullopt;
  if (!wanted) return std::nullopt;
  GcLocker found{.wanted = *wanted, .regions = {}};
  if (const auto count = first_of(symbols, {"_ZN8GCLocker15_jni_lock_countE", "_ZN9GC_locker15_jni_lock_countE"}))
    if (const auto regions = vm.target().memory().read<std::int32_t>(*count)) found.regions = *regions;
  // The last thread that leaves collects itself, and then clears the flag.
  if (found.regions && *found.regions == 0) found.wanted = false;
  return found;
}

}  // namespace jtrace::coreinspect
