#include "cli/hsperf_output.h"

#include <unistd.h>

#include "trace/file_sink.h"

namespace jtrace::cli {

namespace {

Result<std::unique_ptr<trace::ByteSink>> open(const std::string& path, const trace::FileSinkOptions& options) {
  if (path == "-") return std::make_unique<trace::FdSink>(STDOUT_FILENO, "standard output");
  JTRACE_ASSIGN_OR_RETURN(std::unique_ptr<trace::ByteSink> file, trace::FileSink::create(path, options));
  return file;
}

}  // namespace

Result<std::unique_ptr<trace::ByteSink>> open_output(const std::string& path, std::uint64_t max_size) {
  return open(path, {.max_size = max_size});
}

Result<std::unique_ptr<trace::ByteSink>> open_whole_output(const std::string& path) {
  return open(path, {.visible_at_once = false});
}

}  // namespace jtrace::cli
