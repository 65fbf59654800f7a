// The subcommands of hsperf, in the order of its help. One file per subcommand (hsperf_NAME.cpp).
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace jtrace::cli {

void add_hsperf_list(CLI::App& app, ExitStatus& status);
void add_hsperf_snap(CLI::App& app, ExitStatus& status);
void add_hsperf_poll(CLI::App& app, ExitStatus& status);
void add_hsperf_stat(CLI::App& app, ExitStatus& status);
void add_hsperf_check(CLI::App& app, ExitStatus& status);
void add_hsperf_serve(CLI::App& app, ExitStatus& status);
void add_hsperf_push(CLI::App& app, ExitStatus& status);
void add_hsperf_restore(CLI::App& app, ExitStatus& status);
void add_hsperf_top(CLI::App& app, ExitStatus& status);

inline constexpr AddCommand kHsperfCommands[] = {
    add_hsperf_list,  add_hsperf_snap, add_hsperf_poll,    add_hsperf_stat, add_hsperf_check,
    add_hsperf_serve, add_hsperf_push, add_hsperf_restore, add_hsperf_top,
};

// Converts jstat's form of options (-gcutil, -h20); the words are a command line without the program's name.
std::vector<std::string> stat_words(const std::vector<std::string>& words);

}  // namespace jtrace::cli
