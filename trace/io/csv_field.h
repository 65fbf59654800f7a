// A field of a CSV line (RFC 4180). Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::trace::io {

// Adds it to the line, after a comma if it is not the first, in quotes where it needs them.
inline void append_field(std::string& line, bool is_first, std::string_view field) {
  if (!is_first) line += ',';
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += field;
    return;
  }
  line += '"';
  for (const char c : field) {
    line += c;
    if (c == '"') line += c;
  }
  line += '"';
}

}  // namespace jtrace::trace::io
