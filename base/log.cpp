#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "base/strings.h"

namespace jtrace {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};
std::string_view g_program = "jtrace";

}  // namespace

void set_log_level(LogLevel level) { g_level = level; }
LogLevel log_level() { return g_level; }
void set_program_name(std::string_view name) { g_program = name; }

void log(LogLevel level, std::string_view text) {
  if (level > g_level.load()) return;
  std::string line(g_program);
  line += level == LogLevel::kWarning ? ": warning: " : ": ";
  line += text;
  // One message is one line, and contains nothing that changes how a terminal shows it, whatever text a target
  // supplied.
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  line = printable(std::move(line));
  line += '\n';
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace jtrace
