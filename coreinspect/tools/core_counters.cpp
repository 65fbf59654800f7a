#include "coreinspect/tools/core_counters.h"

#include "coreinspect/tools/core_redaction.h"
#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

Result<perfdata::CounterSource> open_core_counters(const std::string& path, const target::CoreFileOptions& files,
                                                   const perfdata::SourceOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(std::shared_ptr<target::Target> target, target::Target::open_core(path, files));
  if (is_redacted(*target)) return fail(ErrorCategory::kRefused, path + ": the core is redacted: it has no counters");
  JTRACE_ASSIGN_OR_RETURN(const auto vm, Vm::open(*target));
  JTRACE_ASSIGN_OR_RETURN(const auto start, vm->read_static<target::Address>("PerfMemory", "_start"));
  if (start == 0)
    return fail(ErrorCategory::kRefused, path + ": its JVM kept no counters (-XX:-UsePerfData), or had none yet");
  const auto end = vm->read_static<target::Address>("PerfMemory", "_end");
  perfdata::CoreRegion region{.memory = {target, &target->memory()},
                              .base = start,
                              .capacity = end && *end > start ? *end - start : 0,
                              .name = path,
                              .nspid = target->nspid(),
                              .libjvm_build_id = target->libjvm().build_id(),
                              .unused_option = target->unused_option()};
  auto source = perfdata::CounterSource::of_core(std::move(region), options);
  if (source || target->memory().read<std::uint8_t>(start)) return source;
  const Error error = source.error().with_context(
      "the core lacks the counters: they are in a shared mapping, which coredump_filter has left out (JDK 8)");
  return fail(error.with_help("hsperf snap --stale FILE reads the file itself if it still exists"));
}

}  // namespace jtrace::coreinspect
