#include "cli/answer_format.h"

#include <unistd.h>

#include "trace/io/json_table.h"
#include "trace/io/stack_profile.h"

namespace jtrace::cli {

bool is_made_of_json(const std::string& format) { return format == "json" || format == "csv" || format == "sqlite"; }

bool is_made_of_stacks(const std::string& format) { return format == "collapsed" || format == "speedscope"; }

void choose_form(const std::string& format, coreinspect::ViewOptions& options) {
  options.json = is_made_of_json(format);
  options.stacks = is_made_of_stacks(format);
}

Result<std::string> formatted(std::string document, const std::string& format, const std::string& output) {
  if (format == "csv") return trace::io::csv_of_json(document);
  if (format == "speedscope") {
    JTRACE_ASSIGN_OR_RETURN(trace::io::StackProfile profile, trace::io::read_collapsed(document));
    profile.unit = "bytes";
    return trace::io::speedscope_of(profile, "what keeps the heap, by class");
  }
  if (format != "sqlite") return document;
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a database is not for a terminal", "-o FILE");
  return trace::io::database_of_json(document);
}

}  // namespace jtrace::cli
