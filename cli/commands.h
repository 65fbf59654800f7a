// The subcommands of jtrace, in the order of its help.
#pragma once

#include <string_view>

#include "cli/command.h"

namespace jtrace::cli {

void add_list_command(CLI::App& app, ExitStatus& status);
void add_doctor_command(CLI::App& app, ExitStatus& status);
void add_diagnose_command(CLI::App& app, ExitStatus& status);
void add_debug_command(CLI::App& app, ExitStatus& status);
void add_attach_command(CLI::App& app, ExitStatus& status);
void add_ctl_command(CLI::App& app, ExitStatus& status);
void add_recover_command(CLI::App& app, ExitStatus& status);
void add_cmd_command(CLI::App& app, ExitStatus& status);
void add_load_command(CLI::App& app, ExitStatus& status);
void add_jmx_command(CLI::App& app, ExitStatus& status);
void add_inspect_command(CLI::App& app, ExitStatus& status);
void add_core_command(CLI::App& app, ExitStatus& status);
void add_heap_command(CLI::App& app, ExitStatus& status);
void add_stack_command(CLI::App& app, ExitStatus& status);
void add_profile_command(CLI::App& app, ExitStatus& status);
void add_top_command(CLI::App& app, ExitStatus& status);
void add_probes_command(CLI::App& app, ExitStatus& status);
void add_probe_command(CLI::App& app, ExitStatus& status);
void add_agent_child_command(CLI::App& app, ExitStatus& status);
void add_convert_command(CLI::App& app, ExitStatus& status);
void add_merge_command(CLI::App& app, ExitStatus& status);
void add_report_command(CLI::App& app, ExitStatus& status);
void add_slow_command(CLI::App& app, ExitStatus& status);
void add_allocations_command(CLI::App& app, ExitStatus& status);
void add_exceptions_command(CLI::App& app, ExitStatus& status);
void add_diff_command(CLI::App& app, ExitStatus& status);
void add_validate_command(CLI::App& app, ExitStatus& status);
void add_stats_command(CLI::App& app, ExitStatus& status);
void add_sql_command(CLI::App& app, ExitStatus& status);
void add_ship_command(CLI::App& app, ExitStatus& status);
void add_collect_command(CLI::App& app, ExitStatus& status);

struct NamedCommand {
  std::string_view name;
  AddCommand add;
};

inline constexpr NamedCommand kCommands[] = {
    {"list", add_list_command},
    {"attach", add_attach_command},
    {"ctl", add_ctl_command},
    {"recover", add_recover_command},
    {"cmd", add_cmd_command},
    {"load", add_load_command},
    {"jmx", add_jmx_command},
    {"inspect", add_inspect_command},
    {"stack", add_stack_command},
    {"profile", add_profile_command},
    {"top", add_top_command},
    {"probes", add_probes_command},
    {"probe", add_probe_command},
    {"agent-child", add_agent_child_command},
    {"convert", add_convert_command},
    {"merge", add_merge_command},
    {"report", add_report_command},
    {"validate", add_validate_command},
    {"stats", add_stats_command},
    {"slow", add_slow_command},
    {"exceptions", add_exceptions_command},
    {"allocations", add_allocations_command},
    {"diff", add_diff_command},
    {"sql", add_sql_command},
    {"doctor", add_doctor_command},
    {"heap", add_heap_command},
    {"diagnose", add_diagnose_command},
    {"debug", add_debug_command},
    {"core", add_core_command},
    {"ship", add_ship_command},
    {"collect", add_collect_command},
};

}  // namespace jtrace::cli
