// The output of hsperf's series, and how the user ends them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/stop_signals.h"
#include "perfdata/poll_output.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

// "-" is standard output. A file is created with mode 0600. `max_size` in bytes; 0: no limit.
Result<std::unique_ptr<trace::ByteSink>> open_output(const std::string& path, std::uint64_t max_size);

// The same; but a file has its name only from finish() on.
Result<std::unique_ptr<trace::ByteSink>> open_whole_output(const std::string& path);

}  // namespace jtrace::cli
