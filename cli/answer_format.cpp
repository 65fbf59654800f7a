#include "cli/answer_format.h"

#include <unistd.h>

#include "trace/io/json_table.h"

namespace jtrace::cli {

bool is_made_of_json(const std::string& format) { return format == "json" || format == "csv" || format == "sqlite"; }

Result<std::string> formatted(std::string document, const std::string& format, const std::string& output) {
  if (format == "csv") return trace::io::csv_of_json(document);
  if (format != "sqlite") return document;
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a database is not for a terminal", "-o FILE");
  return trace::io::database_of_json(document);
}

}  // namespace jtrace::cli
