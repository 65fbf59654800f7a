// `jtrace ship` and `jtrace collect`: start jtrace-fleet, a program of its own because it links libnats.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/fleet_arguments.h"

namespace jtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "jtrace-fleet";

// Beside this program, or in PATH; "" if it is in neither.
std::string fleet_program() {
  std::error_code none;
  std::vector<std::string> folders = {fs::read_symlink("/proc/self/exe", none).parent_path()};
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) folders.emplace_back(folder);
  for (const std::string& folder : folders) {
    const std::string program = folder + "/" + kProgram;
    if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program, none))
      return program;
  }
  return "";
}

// Returns only if it could not be started. It has the same options before the command.
Result<> start() {
  const std::string program = fleet_program();
  if (program.empty())
    return fail(ErrorCategory::kNotFound, std::string(kProgram) + " is neither beside jtrace nor in PATH",
                "it is a program of its own, because it links libnats (docs/fleet.md)");
  JTRACE_ASSIGN_OR_RETURN(std::string line, read_file("/proc/self/cmdline"));
  std::vector<char*> words;
  for (std::size_t at = 0; at < line.size(); at = line.find('\0', at) + 1) words.push_back(line.data() + at);
  words.push_back(nullptr);
  words.front() = const_cast<char*>(kProgram);
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
