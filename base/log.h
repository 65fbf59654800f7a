// One line on stderr, prefixed with the program's name. Library code returns errors and logs at debug level only; cli/
// prints errors and warnings. Not for the agent. Any thread: one write(2) a line.
#pragma once

#include <string_view>

namespace jtrace {

enum class LogLevel { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3 };

void set_log_level(LogLevel level);  // default kInfo; -q is kError, -v is kDebug
LogLevel log_level();
void set_program_name(std::string_view name);  // "jtrace" by default; the text must outlive the program
void log(LogLevel level, std::string_view text);

inline void log_error(std::string_view text) { log(LogLevel::kError, text); }
inline void log_warning(std::string_view text) { log(LogLevel::kWarning, text); }
inline void log_info(std::string_view text) { log(LogLevel::kInfo, text); }
inline void log_debug(std::string_view text) { log(LogLevel::kDebug, text); }

}  // namespace jtrace
