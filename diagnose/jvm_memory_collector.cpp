// The steps of JvmCollector about memory: limits, code, direct buffers, malloc.
#include "coreinspect/tools/direct_memory.h"
#include "coreinspect/tools/malloc_heaps.h"
#include "diagnose/collectors.h"
#include "target/pagemap.h"

namespace jtrace::diagnose {
namespace {

constexpr std::uint64_t kNoLimit = 1ull << 60;  // bytes

// Whether the page of an address is in memory; of a core all are.
std::function<bool(target::Address)> presence_in(const target::Target& target) {
  if (!target.process()) return [](target::Address) { return true; };
  const auto pages = std::make_shared<target::Pagemap>(*target.process());
  return [pages](target::Address at) {
    bool present = false;
    pages->visit(at, at + 1, [&](const target::PageRun&, target::PageKind kind) {
      present = present || kind == target::PageKind::kPresent;
    });
    return present;
  };
}

}  // namespace

Result<CodeBytes> bytes_of_code(const coreinspect::Inspection& inspection) {
  JTRACE_ASSIGN_OR_RETURN(const coreinspect::CodeCache* code, inspection.code());
  CodeBytes bytes;
  for (const coreinspect::CodeHeap& heap : code->heaps()) bytes.size += heap.reserved_end - heap.low;
  JTRACE_RETURN_IF_ERROR(code->for_each([&](const coreinspect::CodeBlob& blob) {
    bytes.used += blob.size;
    bytes.has_methods = bytes.has_methods || blob.comp_level > 0;
    return true;
  }));
  return bytes;
}

Result<Publish> JvmCollector::look_at_limits() {
  const coreinspect::Vm& vm = inspection_->vm();
  // A size that is as large as the address space means that there is no limit.
  const auto size = [&](const char* name) -> std::optional<std::uint64_t> {
    const coreinspect::VmFlag* flag = vm.flag(name);
    const auto value = flag ? parse_decimal<std::uint64_t>(flag->value) : std::nullopt;
    return value && *value > 0 && *value < kNoLimit ? value : std::nullopt;
  };
  LimitFact fact{.max_heap = size("MaxHeapSize"),
                 .max_metaspace = size("MaxMetaspaceSize"),
                 .max_class_space = size("CompressedClassSpaceSize"),
                 .attach_off = vm.flag_is_true("DisableAttachMechanism")};
  JTRACE_ASSIGN_OR_RETURN(const CodeBytes code, bytes_of_code(*inspection_));
  fact.code_used = code.used;
  fact.code_size = code.size;
  // With -Xint it is off too, but then no method was ever compiled.
  fact.compiler_off = code.has_methods && vm.flag("UseCompiler") && !vm.flag_is_true("UseCompiler");
  return [fact](Collected& collected) { collected.facts.limits = fact; };
}

Result<Publish> JvmCollector::look_at_direct_memory() {
  JTRACE_RETURN_IF_ERROR(inspection_->healthy());
  if (coreinspect::CachedMemory* cached = inspection_->vm().cached_memory()) cached->reset();
  std::optional<DirectFact> fact;
  if (const auto direct = coreinspect::read_direct_memory(*inspection_))
    fact = DirectFact{.reserved = direct->reserved, .count = direct->count, .limit = direct->limit};
  return [fact](Collected& collected) {
    collected.facts.direct = fact;
    collected.facts.direct_read = true;
  };
}

Result<Publish> JvmCollector::look_at_malloc() {
  const target::Target& target = inspection_->target();
  std::vector<target::Mapping> mappings = target.mappings();
  if (target.process()) {
    JTRACE_ASSIGN_OR_RETURN(mappings, target.process()->maps());
  }
  const auto found = coreinspect::find_arenas(target.memory(), mappings, presence_in(target), options_.most_read / 2);
  const MallocFact fact{.arenas = found.arenas, .held = found.held, .free = found.free, .unread = found.unread};
  return [fact](Collected& collected) { collected.facts.malloc = fact; };
}

}  // namespace jtrace::diagnose
