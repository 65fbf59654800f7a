// What a bare `jtrace` or `hsperf` prints: which command answers which question, then all commands.
#pragma once

#include <string>

#include "cli/command.h"

namespace jtrace::cli {

// `app`: with all its commands.
std::string task_map(const CLI::App& app);
std::string counter_map(const CLI::App& app);  // of hsperf

}  // namespace jtrace::cli
