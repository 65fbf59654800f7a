// The output of commands that make traces: a file that appears when it is complete, or standard output; compressed by
// its name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

// "-": standard output.
Result<std::unique_ptr<trace::ByteSink>> open_trace_output(const std::string& path);
// Writes the whole output.
Result<> write_output(const std::string& path, std::string_view text);
// The folder for temporary files: that of the output; for "-" TMPDIR, otherwise /tmp.
std::string folder_of_output(const std::string& path);

}  // namespace jtrace::cli
