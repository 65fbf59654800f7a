// Runs a job in a child process that is left alone if the kernel does not let it end.
//
// A thread that waits in the kernel without being interruptible (state D: a network file system that does not answer)
// keeps its whole process, even after SIGKILL, and who waits for that process waits as long. The caller of this
// function does not: it returns as soon as the job has returned. Call it before threads are started. One thread.
#pragma once

#include <functional>

#include "base/result.h"

namespace jtrace {

struct ChildEnd {
  ExitStatus status = ExitStatus::kOk;  // what the job returned
  int signal = 0;                       // that ended the child before that; 0: none
  int left_behind = 0;                  // the pid of the child that does not end; 0: it has ended
};

// What the job prints has been written when this returns, and a child that is left behind has no output open. SIGINT,
// SIGTERM and SIGHUP are passed to the child; ten seconds later, or with the next of them, it is killed. If this
// process dies, the child gets SIGTERM. kSystem: it could not be started.
Result<ChildEnd> run_in_leavable_child(const std::function<ExitStatus()>& job);

}  // namespace jtrace
