// A subcommand as main() sees it: one function that adds itself to the program's CLI11 application.
//
// The callback of a subcommand sets `status` and prints its result on stdout; errors go through report() below. One
// file for each subcommand, for arguments and nothing else: the work is done in other folders.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace jtrace::cli {

using AddCommand = void (*)(CLI::App& app, ExitStatus& status);

// Prints the error as one line on stderr and returns its exit status.
inline ExitStatus report(const Error& error) {
  log_error(error.message());
  return exit_status(error);
}

// Parses the arguments, runs the chosen subcommand and returns the exit status of the process. Usage errors are one
// line and status 2; without a subcommand `text_without` is printed, or the help (status 2). `hint_of`: what to type
// instead of a word that is not a command, as part of a line; "" if it has no advice.
int run_program(CLI::App& app, ExitStatus& status, int argc, char** argv,
                std::string (*text_without)(const CLI::App&) = nullptr,
                std::string (*hint_of)(std::string_view word) = nullptr);

}  // namespace jtrace::cli
