#include "cli/overwriting.h"

#include <sys/stat.h>
#include <unistd.h>

namespace jtrace::cli {
namespace {

bool look_at(const std::string& input, struct stat& status) {
  return (input == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(input.c_str(), &status)) == 0;
}

}  // namespace

Result<> refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs) {
  struct stat there {};
  if (output.empty() || output == "-" || ::stat(output.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return {};
  for (const std::string& input : inputs) {
    struct stat status {};
    if (!look_at(input, status) || status.st_dev != there.st_dev || status.st_ino != there.st_ino) continue;
    return fail(ErrorCategory::kUsage,
                "-o " + output + " is " +
                    (input == "-"      ? "standard input"
                     : input == output ? "the input"
                                       : input) +
                    ": it would be replaced",
                "another name");
  }
  return {};
}

}  // namespace jtrace::cli
