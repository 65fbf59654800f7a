// jtrace: one subcommand, one file (command_NAME.cpp).
#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app("looks into HotSpot JVMs from outside", "jtrace");
  jtrace::ExitStatus status = jtrace::ExitStatus::kOk;
  for (jtrace::cli::AddCommand add : jtrace::cli::kCommands) add(app, status);
  return jtrace::cli::run_program(app, status, argc, argv);
}
