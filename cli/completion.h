// Completion of command lines, made from the CLI11 application, as --help is. Threads: one.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace jtrace::cli {

// `completion bash|zsh|fish`: prints the shell's code, which calls `PROGRAM __complete -- WORD...`.
void add_completion_command(CLI::App& app, ExitStatus& status);

// The candidates for the last of `words`, which are the words after the program's name: one a line, then a tab and a
// short description. The line ":files" means names of files. If a JVM may come, the JVMs of this machine are
// candidates.
std::string completions(const CLI::App& app, std::vector<std::string> words);

}  // namespace jtrace::cli
