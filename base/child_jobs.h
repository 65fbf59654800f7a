// Several jobs, a process for each: they share nothing, and one that fails or ends leaves the others alone. One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.h"

namespace jtrace {

// job(0) .. job(count - 1), each in a child that ends with what it returned; the children get SIGTERM where this
// process ends. A signal that the signalfd `cancel_fd` has is SIGINT for all of them. Waits for them; their statuses in
// the order of their ends. kSystem: a child could not be started.
Result<std::vector<ExitStatus>> run_in_children(std::size_t count, const std::function<ExitStatus(std::size_t)>& job,
                                                int cancel_fd);

}  // namespace jtrace
