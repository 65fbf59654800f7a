#include "base/quoted_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/strings.h"

namespace jtrace {
namespace {

void append_code(std::string& out, unsigned char c) {
  char code[8];
  std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
  out += code;
}

void append_character(std::string& out, char c) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) append_code(out, static_cast<unsigned char>(c));
  else out += c;
}

}  // namespace

std::string escaped_text(std::string_view text) {
  std::string out;
  for (const char c : text) append_character(out, c);
  return printable(std::move(out));  // characters that change how a line looks
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '\\';
    append_character(out, c);
  }
  return printable(std::move(out)) + '"';
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  const auto plain = [&](unsigned char c) {
    return c >= 0x80 || std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != kPlain.npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out + "'";
}

}  // namespace jtrace
