#include "cli/trace_output.h"

#include <unistd.h>

#include "base/temporary_file.h"
#include "trace/file_sink.h"
#include "trace/io/compress_sink.h"

namespace jtrace::cli {

Result<std::unique_ptr<trace::ByteSink>> open_trace_output(const std::string& path) {
  std::unique_ptr<trace::ByteSink> bytes;
  if (path == "-") {
    bytes = std::make_unique<trace::FdSink>(STDOUT_FILENO, "standard output");
  } else {
    JTRACE_ASSIGN_OR_RETURN(bytes, trace::FileSink::create(path, {.visible_at_once = false}));
  }
  return trace::io::compressing(std::move(bytes), trace::io::compression_of_name(path));
}

Result<> write_output(const std::string& path, std::string_view text) {
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_trace_output(path));
  JTRACE_RETURN_IF_ERROR(bytes->write(text));
  return bytes->finish();
}

std::string folder_of_output(const std::string& path) {
  if (path == "-") return temporary_folder();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace jtrace::cli
