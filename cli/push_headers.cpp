#include "cli/push_headers.h"

#include <sys/stat.h>

#include <cstdlib>

#include "base/file.h"

namespace jtrace::cli {
namespace {

Result<perfdata::HttpHeaders> headers_in(const std::string& file) {
  constexpr std::size_t kMost = 65536;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return fail(system_error("cannot read headers", file));
  if (S_ISREG(status.st_mode) && (status.st_mode & 077) != 0) {
    Error error{.category = ErrorCategory::kPermission, .text = "others may read the file with headers", .path = file};
    error.help = "chmod 600 " + file;
    return fail(std::move(error));
  }
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_file(file, kMost));
  return perfdata::parse_header_lines(text, file);
}

}  // namespace

Result<perfdata::HttpHeaders> push_headers(const std::string& file) {
  constexpr const char* kVariable = "OTEL_EXPORTER_OTLP_HEADERS";
  perfdata::HttpHeaders headers;
  if (const char* list = std::getenv(kVariable)) {
    JTRACE_ASSIGN_OR_RETURN(headers, perfdata::parse_header_list(list, kVariable));
  }
  if (file.empty()) return headers;
  JTRACE_ASSIGN_OR_RETURN(const perfdata::HttpHeaders more, headers_in(file));
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

}  // namespace jtrace::cli
