#include "tests/testlib/thread_holder.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>

namespace jtrace::test {

Result<std::unique_ptr<ThreadHolder>> ThreadHolder::hold(pid_t tid, bool stopped) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return fail(system_error(errno, "PTRACE_SEIZE"));
  std::unique_ptr<ThreadHolder> holder(new ThreadHolder(tid));
  if (stopped && !holder->stop()) return fail(ErrorCategory::kSystem, "the thread did not stop");
  return holder;
}

bool ThreadHolder::stop() {
  if (stopped_) return true;
  int status = 0;
  stopped_ = ::ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr) == 0 && ::waitpid(tid_, &status, __WALL) == tid_ &&
             WIFSTOPPED(status);
  return stopped_;
}

ThreadHolder::~ThreadHolder() {
  if (stop()) ::ptrace(PTRACE_DETACH, tid_, nullptr, nullptr);
}

}  // namespace jtrace::test
