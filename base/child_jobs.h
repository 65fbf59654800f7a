// Several jobs, each in a process of its own: they share nothing, and a failure of one does not affect the others. One
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.h"

namespace jtrace {

// Runs job(0) .. job(count - 1), each in a child that exits with the returned status. Waits for all and returns their
// statuses in the order in which they ended. A signal read from the signalfd `cancel_fd` is passed to all children as
// SIGINT; if this process dies, they get SIGTERM. kSystem: a child could not be started.
Result<std::vector<ExitStatus>> run_in_children(std::size_t count, const std::function<ExitStatus(std::size_t)>& job,
                                                int cancel_fd);

}  // namespace jtrace
