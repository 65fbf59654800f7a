#include "base/utf8.h"

#include <algorithm>
#include <vector>

namespace jtrace {

void append_utf8(std::string& out, std::uint32_t code_point) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | (code_point >> 6));
    out += static_cast<char>(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | (code_point >> 12));
    out += static_cast<char>(0x80 | ((code_point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code_point & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code_point >> 18));
    out += static_cast<char>(0x80 | ((code_point >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code_point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code_point & 0x3f));
  }
}

std::string utf8_from_utf16(std::span<const std::uint16_t> units) {
  std::string out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::uint32_t c = units[i];
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < units.size() && units[i + 1] >= 0xdc00 && units[i + 1] < 0xe000)
      c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00u);
    else if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
    append_utf8(out, c);
  }
  return out;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string utf8_from_java(std::span<const std::byte> bytes, bool is_utf16) {
  if (is_utf16) {
    std::vector<std::uint16_t> units(bytes.size() / 2);
    std::copy_n(bytes.begin(), units.size() * 2, std::as_writable_bytes(std::span(units)).begin());
    return utf8_from_utf16(units);
  }
  std::string out;
  for (const std::byte byte : bytes) append_utf8(out, std::to_integer<std::uint32_t>(byte));
  return out;
}

}  // namespace jtrace
