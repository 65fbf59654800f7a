// ThreadHolder: another tracer on one thread of a process, as gdb or strace is, while the object lives.
//
// PTRACE_SEIZE by the calling thread, which alone may make an end of it (ptrace(2)); the kernel lets the thread go if
// it dies. The tracer is this process: "TracerPid" of the thread is getpid().
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.h"

namespace jtrace::test {

class ThreadHolder {
 public:
  // `stopped`: it stands in a stop of ptrace; else it goes on, traced.
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
