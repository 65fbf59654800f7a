#include "cli/fleet_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/strings.h"

namespace jtrace::cli {

namespace fs = std::filesystem;

Result<std::string> fleet_program() {
  std::error_code none;
  std::vector<std::string> folders = {fs::read_symlink("/proc/self/exe", none).parent_path()};
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) folders.emplace_back(folder);
  for (const std::string& folder : folders) {
    std::string program = folder + "/" + kFleetProgram;
    if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program, none))
      return program;
  }
  return fail(ErrorCategory::kNotFound, std::string(kFleetProgram) + " is neither beside this program nor in PATH",
              "it is a program of its own, because it links libnats (docs/fleet.md)");
}

}  // namespace jtrace::cli
