// CompileTask: what a compiler thread compiles at this moment (compileTask.hpp): CompilerThread::_env, ciEnv::_task.
//
// As of the VM's cached memory. Threads: one at a time.
#pragma once

#include <optional>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct CompileTask {
  int id = 0;                  // as in -XX:+PrintCompilation; the same number later: the same compilation
  target::Address method = 0;  // Method
  int level = 0;               // 1 to 3: C1, 4: C2
};
// Nothing if the thread compiles nothing, is not a compiler thread, or the tables of this JVM lack it.
std::optional<CompileTask> read_compile_task(const Vm& vm, target::Address compiler_thread);

}  // namespace jtrace::coreinspect
