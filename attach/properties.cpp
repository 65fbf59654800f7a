#include "attach/properties.h"

#include <charconv>

#include "base/strings.h"
#include "base/utf8.h"

namespace jtrace::attach {
namespace {

constexpr std::string_view kBlanks = " \t\f\r";

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      append_utf8(out, static_cast<unsigned char>(text[i]));  // store() writes ISO 8859-1
      continue;
    }
    const char next = text[++i];
    unsigned code = 0;
    if (next == 'u' && i + 4 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 5, code, 16).ptr == text.data() + i + 5) {
      append_utf8(out, code);
      i += 4;
    } else {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next == 'f' ? '\f' : next;
    }
  }
  return out;
}

// End of the key in a line: the first separator without a backslash before it.
std::size_t key_end(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') ++i;
    else if (line[i] == '=' || line[i] == ':') return i;
  }
  return line.size();
}

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with('!'); }

std::string_view without_leading_blanks(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(kBlanks), line.size()));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_properties(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> properties;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = without_leading_blanks(line);
    const std::size_t end = key_end(line);
    if (line.empty() || is_comment(line) || end == line.size()) continue;
    properties.emplace_back(unescaped(trimmed(line.substr(0, end))),
                            unescaped(without_leading_blanks(line.substr(end + 1))));
  }
  return properties;
}

std::string with_masked_secrets(std::string_view text) {
  std::string out;
  bool first = true;
  for (std::string_view line : split(text, '\n')) {
    if (!first) out += '\n';
    first = false;
    const std::size_t end = key_end(line);
    const bool secret = end < line.size() && !is_comment(line) && looks_secret(unescaped(trimmed(line.substr(0, end))));
    out += secret ? line.substr(0, end + 1) : line;
    if (secret) out += "***";
  }
  return out;
}

}  // namespace jtrace::attach
