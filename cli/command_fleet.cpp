// `jtrace ship` and `jtrace collect`: start jtrace-fleet, a program of its own because it links libnats.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/fleet_arguments.h"
#include "cli/fleet_program.h"

namespace jtrace::cli {
namespace {

// Returns only if it could not be started. It has the same options before the command.
Result<> start() {
  JTRACE_ASSIGN_OR_RETURN(const std::string program, fleet_program());
  JTRACE_ASSIGN_OR_RETURN(std::string line, read_file("/proc/self/cmdline"));
  std::vector<char*> words;
  for (std::size_t at = 0; at < line.size(); at = line.find('\0', at) + 1) words.push_back(line.data() + at);
  words.push_back(nullptr);
  words.front() = const_cast<char*>(kFleetProgram);
  ::execv(program.c_str(), words.data());
  return fail(ErrorCategory::kSystem, "cannot start " + program + ": " + std::strerror(errno));
}

}  // namespace

void add_ship_command(CLI::App& app, ExitStatus& status) {
  const auto arguments = std::make_shared<ShipArguments>();
  add_ship_arguments(app, *arguments)->callback([arguments, &status] { status = report(start().error()); });
}

void add_collect_command(CLI::App& app, ExitStatus& status) {
  const auto arguments = std::make_shared<CollectArguments>();
  add_collect_arguments(app, *arguments)->callback([arguments, &status] { status = report(start().error()); });
}

}  // namespace jtrace::cli
