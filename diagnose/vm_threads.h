// The threads of the VM by name: what each is for. Names are those that the kernel has (15 characters), or that of the
// java.lang.Thread. Pure functions, any thread.
#pragma once

#include <string_view>

namespace jtrace::diagnose {

enum class VmWork {
  kNone,        // no thread of the VM
  kOperations,  // the VM Thread
  kCollector,
  kCompiler,
  kOther,
};
struct VmThread {
  VmWork work = VmWork::kNone;
  std::string_view does;  // "removes compiled code that is not used any more"; of kOther only
};
VmThread vm_thread_named(std::string_view name);

}  // namespace jtrace::diagnose
