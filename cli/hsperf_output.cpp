#include "cli/hsperf_output.h"

#include <unistd.h>

#include "trace/file_sink.h"

namespace jtrace::cli {

Result<std::unique_ptr<trace::ByteSink>> open_output(const std::string& path, std::uint64_t max_size) {
  if (path == "-") return std::make_unique<trace::FdSink>(STDOUT_FILENO, "standard output");
  JTRACE_ASSIGN_OR_RETURN(std::unique_ptr<trace::ByteSink> file,
                          trace::FileSink::create(path, trace::FileSinkOptions{.max_size = max_size}));
  return file;
}

}  // namespace jtrace::cli
