// The subcommands of jtrace, in the order of its help.
#pragma once

#include "cli/command.h"

namespace jtrace::cli {

void add_list_command(CLI::App& app, ExitStatus& status);
void add_attach_command(CLI::App& app, ExitStatus& status);
void add_ctl_command(CLI::App& app, ExitStatus& status);
void add_recover_command(CLI::App& app, ExitStatus& status);
void add_cmd_command(CLI::App& app, ExitStatus& status);
void add_load_command(CLI::App& app, ExitStatus& status);
void add_jmx_command(CLI::App& app, ExitStatus& status);
void add_inspect_command(CLI::App& app, ExitStatus& status);
void add_stack_command(CLI::App& app, ExitStatus& status);
void add_probes_command(CLI::App& app, ExitStatus& status);
void add_probe_command(CLI::App& app, ExitStatus& status);
void add_agent_child_command(CLI::App& app, ExitStatus& status);
void add_convert_command(CLI::App& app, ExitStatus& status);
void add_merge_command(CLI::App& app, ExitStatus& status);
void add_report_command(CLI::App& app, ExitStatus& status);
void add_validate_command(CLI::App& app, ExitStatus& status);
void add_stats_command(CLI::App& app, ExitStatus& status);

inline constexpr AddCommand kCommands[] = {
    add_list_command,     add_attach_command,      add_ctl_command,     add_recover_command, add_cmd_command,
    add_load_command,     add_jmx_command,         add_inspect_command, add_stack_command,   add_probes_command,
    add_probe_command,    add_agent_child_command, add_convert_command, add_merge_command,   add_report_command,
    add_validate_command, add_stats_command,
};

}  // namespace jtrace::cli
