// ThreadHolder: another tracer of one thread of a process, as gdb or strace would be, while the object lives.
//
// PTRACE_SEIZE by the calling thread; only it may detach (ptrace(2)). The kernel detaches if it dies. The tracer is
// this process: "TracerPid" of the thread is getpid().
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.h"

namespace jtrace::test {

class ThreadHolder {
 public:
  // `stopped`: the thread is in a stop of ptrace; otherwise it runs, traced.
  static Result<std::unique_ptr<ThreadHolder>> hold(pid_t tid, bool stopped);
  ~ThreadHolder();
  ThreadHolder(const ThreadHolder&) = delete;
  ThreadHolder& operator=(const ThreadHolder&) = delete;

 private:
  explicit ThreadHolder(pid_t tid) : tid_(tid) {}
  bool stop();

  pid_t tid_;
  bool stopped_ = false;
};

}  // namespace jtrace::test
