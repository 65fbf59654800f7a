// Texts that are kept one a line: backslash, newline and NUL are escaped. Pure.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::session {

inline std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\') line += "\\\\";
    else if (c == '\n') line += "\\n";
    else if (c == '\0') line += "\\0";
    else line += c;
  }
  return line;
}
inline std::string from_one_line(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    const char next = line[++i];
    text += next == 'n' ? '\n' : next == '0' ? '\0' : next;
  }
  return text;
}

}  // namespace jtrace::session
