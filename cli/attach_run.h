// The options that command_cmd, command_load and command_jmx share, and the printing of the JVMs' answers.
#pragma once

#include <CLI/CLI.hpp>
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

// --timeout; `options` lives as long as `command`.
void add_timeout(CLI::App& command, AttachRunOptions& options);

// Calls attach::run_requests() for each JVM, several at a time, and prints the outcomes in the order of the JVMs: data
// on stdout (with a label if there are several answers), errors on stderr. Returns the exit status: kPartial if only
// some failed.
ExitStatus run_and_print(const AttachRunOptions& options, const std::vector<attach::Request>& requests);

// 0 if all are, kPartial if only some are, otherwise the first.
ExitStatus combined_status(const std::vector<ExitStatus>& statuses);

// {"view":...,"target":...,"complete":...,"missing":[...],"data":ROWS} with a newline; `rows` is a JSON array.
std::string json_view(std::string_view view, std::string_view selectors, const std::vector<std::string>& missing,
                      std::string_view rows);

}  // namespace jtrace::cli
