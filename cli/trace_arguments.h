// The options of a trace (session/options/options.h) as options of a subcommand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "session/options/options.h"

namespace jtrace::cli {

// The options of the command line.
class TraceArguments {
 public:
  // Adds --NAME for every row of the table, except those that only -agentpath has, and --agent-options.
  void add_to(CLI::App& command);
  // `output`: where the trace goes, in the place of -o and --spill; "" if they say it.
  Result<session::TraceOptions> options(const std::string& output = "") const;

 private:
  struct Given {
    std::string_view name;
    bool is_flag;
    std::vector<std::string> values;
    CLI::Option* option;
  };
  std::vector<std::unique_ptr<Given>> given_;
  std::vector<std::string> agent_options_;
};

}  // namespace jtrace::cli
