#include "coreinspect/tools/kernel_threads.h"

#include <algorithm>

namespace jtrace::coreinspect {

KernelThreads::KernelThreads(const Vm& vm) : vm_(vm) {
  const target::Process* process = vm.target().process();
  const auto tids = process ? process->threads() : std::vector<pid_t>();
  for (const pid_t tid : tids ? *tids : std::vector<pid_t>()) {
    const auto text = process->read_proc("task/" + std::to_string(tid) + "/status");
    if (!text) continue;
    const target::ProcessStatus status = target::parse_status(*text);
    threads_.push_back({tid, status.nspid.empty() ? tid : status.nspid.back(), status.name});
  }
}

const KernelThread* KernelThreads::named(std::string_view name) const {
  const auto found =
      std::find_if(threads_.begin(), threads_.end(), [&](const auto& each) { return each.name == name; });
  return found == threads_.end() ? nullptr : &*found;
}

pid_t native_id_of(const Vm& vm, target::Address thread) {
  const auto at = vm.types().offset({"JavaThread", "Thread"}, "_osthread");
  const auto os_thread = at ? vm.memory().read<target::Address>(thread + *at) : Result<target::Address>(0);
  if (!os_thread || *os_thread == 0) return 0;
  return vm.read_field<std::int32_t>(*os_thread, "OSThread", "_thread_id").value_or(0);
}

const KernelThread* KernelThreads::of(target::Address thread) const {
  const pid_t id = native_id_of(vm_, thread);
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& each) { return each.nstid == id; });
  return id == 0 || found == threads_.end() ? nullptr : &*found;
}

pid_t KernelThreads::tid_of(target::Address thread) const {
  const KernelThread* found = of(thread);
  return found ? found->tid : 0;
}

}  // namespace jtrace::coreinspect
