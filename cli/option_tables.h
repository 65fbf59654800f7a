// The program's commands and options as tables, for its man pages, and what completion asks of them. Made from the
// CLI11 application, as --help is. Threads: one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace jtrace::cli {

// One line each, fields separated by tabs: "command NAME DESCRIPTION", "option COMMAND NAMES VALUE DESCRIPTION",
// "word-option COMMAND NAMES VALUE DESCRIPTION WORD,WORD...": an option that only some words have (word_scopes.h),
// "positional COMMAND NAME required|optional DESCRIPTION", "footer COMMAND LINE", "units COMMAND LINE" (unit_lines.h).
// COMMAND is "" for the program itself.
std::string option_tables(const CLI::App& app);

// The commands that --help shows.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
// False for null.
bool takes_value(const CLI::Option* option);
// Text of a target is printed on a terminal, and fields are separated by tabs: control characters become spaces.
std::string one_field(std::string_view text);

}  // namespace jtrace::cli
