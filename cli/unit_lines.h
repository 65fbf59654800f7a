// What a number without a unit means: the last lines of the help of each command whose options take a TIME or a SIZE.
// Made from the names of the options' types. Threads: one.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace jtrace::cli {

// A number without a unit is in ms for this option; else it is in seconds.
void mark_milliseconds(const CLI::Option& option);

// "TIME: 200ms, 30s, 5m, 1h; a number alone is seconds", of the options that help shows.
std::vector<std::string> unit_lines(const CLI::App& command);

// Help that ends with these lines.
std::shared_ptr<CLI::FormatterBase> help_form();

}  // namespace jtrace::cli
