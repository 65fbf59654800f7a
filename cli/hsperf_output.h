// The output of hsperf's series, the process that they belong to, and their end by the user.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/stop_signals.h"
#include "perfdata/poll_output.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

// "-" is standard output. A file is made 0600. `max_size` in bytes; 0: no limit.
Result<std::unique_ptr<trace::ByteSink>> open_output(const std::string& path, std::uint64_t max_size);

// Writes node, processCreate and agentCreate: the same ids as `jtrace attach` gives the process.
perfdata::WriteHead head_writer(std::string agent_parameters, bool show_secrets);

}  // namespace jtrace::cli
