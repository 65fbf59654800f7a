#include "coreinspect/runtime/gc_locker.h"

namespace jtrace::coreinspect {
namespace {

std::optional<target::Address> first_of(const VmSymbols& symbols, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const auto found = symbols.address(name)) return found;
  return std::nullopt;
}

}  // namespace

std::optional<GcLocker> read_gc_locker(const Vm& vm, const VmSymbols& symbols) {
  const auto wanted = first_of(
      symbols, {"_ZN8GCLocker9_needs_gcE", "_ZN9GC_locker9_needs_gcE", "_ZN8GCLocker22_is_gc_request_pendingE"});
  if (!wanted) return std::nullopt;
  const auto flag = vm.target().memory().read<std::uint8_t>(*wanted);
  if (!flag || *flag > 1) return std::nullopt;
  GcLocker found{.wanted = *flag == 1, .regions = {}};
  if (const auto count = first_of(symbols, {"_ZN8GCLocker15_jni_lock_countE", "_ZN9GC_locker15_jni_lock_countE"}))
    if (const auto regions = vm.target().memory().read<std::int32_t>(*count)) found.regions = *regions;
  return found;
}

}  // namespace jtrace::coreinspect
