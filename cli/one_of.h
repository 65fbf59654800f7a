// one_of(): a CLI11 check for a word that must be one of several. The error lists them, and names the nearest.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jtrace::cli {

CLI::Validator one_of(std::vector<std::string> words);

}  // namespace jtrace::cli
