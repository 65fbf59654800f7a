#include "coreinspect/runtime/compile_task.h"

namespace jtrace::coreinspect {

using target::Address;

std::optional<CompileTask> read_compile_task(const Vm& vm, Address compiler_thread) {
  const Address environment = vm.read_pointer(compiler_thread, "CompilerThread", "_env").value_or(0);
  const Address task = environment == 0 ? 0 : vm.read_pointer(environment, "ciEnv", "_task").value_or(0);
  if (task == 0) return std::nullopt;
  const auto id = vm.read_field<std::int32_t>(task, "CompileTask", "_compile_id");
  const auto method = vm.read_pointer(task, "CompileTask", "_method");
  if (!id || !method || *id <= 0 || *method == 0) return std::nullopt;
  return CompileTask{.id = *id,
                     .method = *method,
                     .level = vm.read_field<std::int32_t>(task, "CompileTask", "_comp_level").value_or(0)};
}

}  // namespace jtrace::coreinspect
