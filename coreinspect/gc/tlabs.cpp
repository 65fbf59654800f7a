// ThreadLocalAllocBuffer (threadLocalAllocBuffer.hpp): [start, top) is filled, [top, hard end) is not.
#include <algorithm>
#include <array>

#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/runtime/java_threads.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kMaxTlab = 1ull << 32;

// ThreadLocalAllocBuffer::alignment_reserve(): room for the header of a filler and for the prefetch of allocations.
std::uint64_t reserve_bytes(const Vm& vm) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> fields = {
      {{"ThreadLocalAllocBuffer", "_reserve_for_allocation_prefetch"},
       {"Abstract_VM_Version", "_reserve_for_allocation_prefetch"}}};
  // The size of an int[] header, which the JVM exports from JDK 21 on.
  const VmFlag* compressed = vm.flag("UseCompressedClassPointers");
  std::uint64_t words = !compressed || compressed->value == "true" ? 2 : 3;
  if (const auto reserve = vm.read_static<std::uint64_t>("CollectedHeap", "_lab_alignment_reserve")) words = *reserve;
  for (const auto& [type, name] : fields)
    if (const auto reserve = vm.read_static<std::int32_t>(type, name); reserve && *reserve > 0)
      words = std::max(words, static_cast<std::uint64_t>(*reserve));
  const std::uint64_t alignment = object_alignment(vm);
  return (words * kWord + alignment - 1) / alignment * alignment;
}

}  // namespace

Result<std::vector<AddressRange>> read_tlab_holes(const Vm& vm) {
  const auto tlab = vm.types().offset("Thread", "_tlab");
  const auto end_offset = vm.types().offset("ThreadLocalAllocBuffer", "_end");
  if (!tlab || !end_offset) return fail(Vm::no_field("Thread", "_tlab"));
  JTRACE_ASSIGN_OR_RETURN(const auto threads, java_thread_addresses(vm));
  const std::uint64_t reserve = reserve_bytes(vm);
  std::vector<AddressRange> holes;
  for (Address thread : threads) {
    const Address at = thread + *tlab;
    const auto start = vm.read_pointer(at, "ThreadLocalAllocBuffer", "_start");
    const auto top = vm.read_pointer(at, "ThreadLocalAllocBuffer", "_top");
    auto end = vm.memory().read<Address>(at + *end_offset);
    if (!start || !top || !end || *top == 0 || *start > *top || *top > *end) continue;
    // Heap sampling lowers _end; from JDK 11 on the real end is the next field (_allocation_end).
    if (vm.feature() >= 11)
      if (const auto allocation_end = vm.memory().read<Address>(at + *end_offset + kWord);
          allocation_end && *allocation_end >= *end && *allocation_end - *start < kMaxTlab)
        end = allocation_end;
    holes.push_back({*top, *end + reserve, *start});
  }
  std::sort(holes.begin(), holes.end(), [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
  return holes;
}

}  // namespace jtrace::coreinspect
