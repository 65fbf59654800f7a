#include "attach/properties.h"

#include <charconv>

#include "base/secrets.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace jtrace::attach {
namespace {

constexpr std::string_view kBlanks = " \t\f\r";

// `places`: of each byte of the result, where the text has it.
std::string unescaped(std::string_view text, std::vector<std::size_t>* places = nullptr) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (places != nullptr) places->resize(out.size(), places->empty() ? 0 : places->back());
    if (places != nullptr) places->push_back(i);
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

// With the secrets in the value, which begins at `at`, masked.
void append_masked(std::string& out, std::string_view line, std::size_t at) {
  std::vector<std::size_t> places;
  const std::string value = unescaped(line.substr(at), &places);
  places.resize(value.size() + 1, line.size() - at);
  std::size_t done = 0;
  for (const auto& [begin, end] : find_secrets(value)) {
    out.append(line.substr(done, at + places[begin] - done)).append("***");
    done = at + places[end];
  }
  out += line.substr(done);
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
    if (secret) out.append(line.substr(0, end + 1)).append("***");
    else if (end < line.size() && !is_comment(line)) append_masked(out, line, end + 1);
    else out += line;
  }
  return out;
}

}  // namespace jtrace::attach
