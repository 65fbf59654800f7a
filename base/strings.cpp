#include "base/strings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/utf8.h"

namespace jtrace {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Length of the UTF-8 sequence at the start of `text`; 0 if it is invalid (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!tail(1) || !tail(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

bool is_xml_noncharacter(std::string_view sequence) { return sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf"; }

// Calls on_ascii(char) for ASCII and on_text(sequence) for the rest; invalid bytes become U+FFFD.
template <class OnAscii, class OnText>
void for_each_character(std::string_view text, OnAscii on_ascii, OnText on_text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      on_ascii(text[i++]);
      continue;
    }
    const std::size_t length = utf8_length(text.substr(i));
    on_text(length == 0 ? kReplacement : text.substr(i, length));
    i += std::max<std::size_t>(length, 1);
  }
}

// JSON writes it as it is.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

std::uint32_t code_point_of(std::string_view sequence) {
  const std::size_t length = sequence.size();
  std::uint32_t code = static_cast<unsigned char>(sequence[0]) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (static_cast<unsigned char>(sequence[i]) & 0x3f);
  return code;
}

// A character beyond ASCII that is not seen itself, and may change how the text around it looks: a control, one of
// Unicode's general category Cf (marks of direction, joiners, tags), or a separator of lines.
bool is_hidden(std::string_view sequence) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kHidden[] = {
      {0x80, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200f},
      {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  const std::uint32_t code = code_point_of(sequence);
  return std::any_of(std::begin(kHidden), std::end(kHidden),
                     [&](const auto& range) { return range.first <= code && code <= range.second; });
}

void append_unit(std::string& out, std::uint32_t unit) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}
// As Java and JSON write a character: the code of each unit of UTF-16.
void append_escaped(std::string& out, std::string_view sequence) {
  const std::uint32_t code = code_point_of(sequence);
  if (code < 0x10000) return append_unit(out, code);
  append_unit(out, 0xd800 + ((code - 0x10000) >> 10));
  append_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

void append_xml_ascii(std::string& out, char c) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\t': out += "&#9;"; return;
    case '\n': out += "&#10;"; return;
    case '\r': out += "&#13;"; return;
    default:
      if (static_cast<unsigned char>(c) < 0x20) out += kReplacement;
      else out += c;
  }
}

// Reads one UTF-16 unit of modified UTF-8 at text[i] and advances i. Returns -1 for a byte that cannot begin one.
std::int32_t next_unit(std::string_view text, std::size_t& i) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto tail = [&](std::size_t at) { return at < text.size() && (byte(at) & 0xc0) == 0x80; };
  const unsigned char first = byte(i);
  if (first < 0x80) return text[i++];
  if ((first & 0xe0) == 0xc0 && tail(i + 1)) {
    i += 2;
    return ((first & 0x1f) << 6) | (byte(i - 1) & 0x3f);
  }
  if ((first & 0xf0) == 0xe0 && tail(i + 1) && tail(i + 2)) {
    i += 3;
    return ((first & 0x0f) << 12) | ((byte(i - 2) & 0x3f) << 6) | (byte(i - 1) & 0x3f);
  }
  ++i;
  return -1;
}

// Two neighbours that are swapped count once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    rows[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

void append_hex(std::string& out, std::uint64_t value) {
  char digits[24];
  out += "0x";
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
}

namespace {

// "8MB" and "8MiB" are "8M": all are powers of 1024.
std::string_view without_byte(std::string_view text) {
  constexpr std::string_view kLetters = "kKmMgGtT";
  for (const std::string_view ending : {"iB", "B", "ib", "b"}) {
    if (!text.ends_with(ending)) continue;
    const std::string_view rest = text.substr(0, text.size() - ending.size());
    if (!rest.empty() && kLetters.find(rest.back()) != kLetters.npos) return rest;
  }
  return text;
}

// 512 for the "5" of "0.5K". Exact to a byte: a unit has fewer bits than a double.
std::optional<std::uint64_t> fraction_bytes(std::string_view digits, int shift) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (shift == 0 || digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  const std::string text = "0." + std::string(digits);
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share, std::chars_format::fixed);
  if (error == std::errc::result_out_of_range) return 0;  // too small for a double
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(std::ldexp(share, shift)));
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  text = without_byte(text);
  if (text.empty()) return std::nullopt;
  int shift = 0;
  switch (text.back()) {
    case 'k':
    case 'K': shift = 10; break;
    case 'm':
    case 'M': shift = 20; break;
    case 'g':
    case 'G': shift = 30; break;
    case 't':
    case 'T': shift = 40; break;
    default: break;
  }
  if (shift != 0) text.remove_suffix(1);
  std::uint64_t fraction = 0;
  if (const auto point = text.find('.'); point != text.npos) {
    const auto bytes = fraction_bytes(text.substr(point + 1), shift);
    if (!bytes) return std::nullopt;
    fraction = *bytes;
    text = text.substr(0, point);
  }
  const auto number = parse_decimal<std::uint64_t>(text);
  if (!number || *number > (UINT64_MAX >> shift)) return std::nullopt;
  const std::uint64_t whole = *number << shift;
  return whole > UINT64_MAX - fraction ? std::nullopt : std::optional(whole + fraction);
}

void append_xml_escaped(std::string& out, std::string_view text) {
  for_each_character(
      text, [&](char c) { append_xml_ascii(out, c); },
      [&](std::string_view sequence) { out += is_xml_noncharacter(sequence) ? kReplacement : sequence; });
}

void append_json_escaped(std::string& out, std::string_view text) {
  const auto special = std::ranges::find_if_not(text, is_plain);  // seldom there
  out.append(text.begin(), special);
  text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
  const auto ascii = [&](char c) {
    switch (c) {
      case '"': out += "\\\""; return;
      case '\\': out += "\\\\"; return;
      case '\n': out += "\\n"; return;
      case '\r': out += "\\r"; return;
      case '\t': out += "\\t"; return;
      default: break;
    }
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
    else append_unit(out, static_cast<unsigned char>(c));
  };
  for_each_character(text, ascii, [&](std::string_view sequence) {
    if (is_hidden(sequence)) append_escaped(out, sequence);
    else out += sequence;
  });
}

std::optional<std::size_t> first_not_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

std::string utf8_from_modified(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::int32_t unit = next_unit(text, i);
    if (unit >= 0 && (unit & 0xf800) != 0xd800) {
      append_utf8(out, static_cast<std::uint32_t>(unit));
      continue;
    }
    // A high surrogate is valid only with the low one that follows it.
    if (unit >= 0 && unit < 0xdc00 && i < text.size()) {
      std::size_t after = i;
      const std::int32_t low = next_unit(text, after);
      if (low >= 0xdc00 && low <= 0xdfff) {
        append_utf8(out, 0x10000u + (static_cast<std::uint32_t>(unit - 0xd800) << 10) +
                             static_cast<std::uint32_t>(low - 0xdc00));
        i = after;
        continue;
      }
    }
    out += kReplacement;
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string printable(std::string text) {
  if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; })) return text;
  std::string out;
  out.reserve(text.size());
  for_each_character(
      text, [&](char c) { out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c; },
      [&](std::string_view sequence) {
        if (is_hidden(sequence)) append_escaped(out, sequence);
        else out += sequence;
      });
  return out;
}

std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLetters = 3;
  std::string_view best;
  // Of three letters two others make another word ("cpu" is no "ctl"); dashes are none.
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t best_distance = (letters <= kLetters ? 1 : std::max<std::size_t>(2, word.size() / 3)) + 1;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || letters < kLetters) return best;
  for (std::string_view candidate : candidates)
    if (candidate.starts_with(word) && (best.empty() || candidate.size() < best.size())) best = candidate;
  return best;
}

bool looks_secret(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 6> kWords = {"password", "passwd", "secret", "token", "credential", "key"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view w) { return lower.find(w) != std::string::npos; });
}

}  // namespace jtrace
