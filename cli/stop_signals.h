// The signals that end a command which would run on: SIGINT, SIGTERM, SIGHUP, blocked and readable from a descriptor.
#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::cli {

// A signalfd. To be called before threads are started, which inherit the blocked signals.
Result<UniqueFd> stop_signals();

}  // namespace jtrace::cli
