// WakerNames: who woke a thread, as it is shown: a thread of the same JVM by its name, another process's with its
// process. One thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

#include "sampling/wakeups.h"

namespace jtrace::sampling {

class WakerNames {
 public:
  // The name of a thread of a JVM that is sampled; "" of another process.
  using NameInJvm = std::function<std::string(pid_t pid, pid_t tid)>;
  // `name_of_process`: "" of one that has ended, as the kernel has it.
  using NameOfProcess = std::function<std::string(pid_t pid)>;

  WakerNames(NameInJvm in_jvm, NameOfProcess of_process)
      : in_jvm_(std::move(in_jvm)), of_process_(std::move(of_process)) {}

  // `pid`: of the thread that was woken.
  std::string name(const Wakeup& wakeup, pid_t pid);

 private:
  const NameInJvm in_jvm_;
  const NameOfProcess of_process_;
  std::map<pid_t, std::string> processes_;
};

// "process sshd (17)", or "kernel thread kworker/0:1".
std::string name_of_process(pid_t pid);

}  // namespace jtrace::sampling
