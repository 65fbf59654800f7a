#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

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
  // One message is one line, and contains no control characters for a terminal, whatever text a target supplied.
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    else if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  line += '\n';
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace jtrace
