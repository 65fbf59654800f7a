// The options that command_cmd, command_load and command_jmx share, and the printing of what JVMs answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attach/protocol.h"
#include "base/result.h"

namespace jtrace::cli {

struct AttachRunOptions {
  std::string selectors;          // comma-separated, or all
  std::optional<double> timeout;  // seconds, for start and reply together
  std::string format = "text";
  bool show_secrets = false;
  bool confirmed = false;  // --yes
};

// attach::run_requests() on each JVM, several at a time, and the printing: data on stdout, labelled where there is more
// than one answer, in the order of the JVMs; errors on stderr. Returns the exit status: kPartial where some failed and
// some did not.
ExitStatus run_and_print(const AttachRunOptions& options, const std::vector<attach::Request>& requests);

// 0 where all are, kPartial where some are and some are not, else the first.
ExitStatus combined_status(const std::vector<ExitStatus>& statuses);

// {"view":...,"target":...,"complete":...,"missing":[...],"data":ROWS} with a newline; `rows` is a JSON array.
std::string json_view(std::string_view view, std::string_view selectors, const std::vector<std::string>& missing,
                      std::string_view rows);

}  // namespace jtrace::cli
