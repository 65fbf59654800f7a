#include "perfdata/value_format.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

constexpr std::string_view kVersion = "hsperf/2.0";

std::string_view unit_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kNone: return "None";
    case Quantity::kEvents: return "Events";
    case Quantity::kBytes: return "Bytes";
    case Quantity::kWords: return "HeapWords";
    case Quantity::kTicks: return "Ticks";
    case Quantity::kCpuTime: return "Nanoseconds";
    case Quantity::kMillis: return "Milliseconds";
    case Quantity::kEpochMillis: return "EpochMilliseconds";
    case Quantity::kPercent: return "Percent";
    case Quantity::kHertz: return "Hertz";
    case Quantity::kText: return "String";
  }
  return "None";
}

// HotSpot's name if it has one, otherwise the number.
std::string units_text(std::uint8_t units) {
  return units_name(units) == "Unknown" ? std::to_string(units) : std::string(units_name(units));
}
std::string variability_text(std::uint8_t variability) {
  return variability_name(variability) == "Unknown" ? std::to_string(variability)
                                                    : std::string(variability_name(variability));
}

template <class Name>
std::optional<std::uint8_t> number_of(std::string_view text, std::uint8_t last, Name name) {
  for (std::uint8_t number = 1; number <= last; ++number)
    if (name(number) == text) return number;
  return parse_decimal<std::uint8_t>(text);
}

std::optional<std::uint8_t> units_number(std::string_view text) { return number_of(text, 6, units_name); }

// True for what append_xml_escaped would replace: control characters except tab, newline and return, and bytes that are
// not UTF-8.
bool fits_xml(std::string_view text) {
  std::string escaped;
  append_xml_escaped(escaped, text);
  std::size_t replacements = 0, own = 0;
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  for (std::size_t at = escaped.find(kReplacement); at != escaped.npos; at = escaped.find(kReplacement, at + 3))
    ++replacements;
  for (std::size_t at = text.find(kReplacement); at != text.npos; at = text.find(kReplacement, at + 3)) ++own;
  return replacements == own;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

void append_hex_byte(std::string& out, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += kDigits[static_cast<unsigned char>(c) >> 4];
  out += kDigits[static_cast<unsigned char>(c) & 15];
}

std::optional<std::string> decode_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::optional<std::string> decode_escaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
    } else if (text.substr(i, 2) == "\\\\") {
      bytes += '\\';
      ++i;
    } else {
      if (text.substr(i, 2) != "\\x" || i + 4 > text.size()) return std::nullopt;
      const auto byte = decode_hex(text.substr(i + 2, 2));
      if (!byte) return std::nullopt;
      bytes += *byte;
      i += 3;
    }
  }
  return bytes;
}

}  // namespace

void append_value_format(std::string& out, const ValueFormat& format, Quantity quantity) {
  const std::string declared = units_text(format.units);
  const bool known = units_name(format.units) != "Unknown";
  const std::string_view unit = known ? unit_of(quantity) : std::string_view(declared);
  out.append(kVersion).append(" unit=").append(unit);
  if (unit != declared) out.append(" declared=").append(declared);
  out.append(" variability=").append(variability_text(format.variability)).append(" flags=");
  append_decimal(out, format.flags);
  out += " length=";
  append_decimal(out, format.length);
  if (format.encoding == ValueEncoding::kEscaped) out += " enc=escaped";
  if (format.encoding == ValueEncoding::kHex) out += " enc=hex";
  if (format.masked) out += " masked";
}

std::optional<ValueFormat> parse_value_format(std::string_view text) {
  const auto words = split(text, ' ');
  if (words.front() != kVersion) return std::nullopt;
  ValueFormat format;
  std::optional<std::uint8_t> unit, declared, variability;
  for (std::string_view word : words) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = equals == word.npos ? std::string_view() : word.substr(equals + 1);
    if (key == "unit") unit = units_number(value);
    if (key == "declared") declared = units_number(value);
    if (key == "variability") variability = number_of(value, 3, variability_name);
    if (key == "flags") format.flags = parse_decimal<std::uint8_t>(value).value_or(0);
    if (key == "length") format.length = parse_decimal<std::uint32_t>(value).value_or(0);
    if (word == "enc=escaped") format.encoding = ValueEncoding::kEscaped;
    if (word == "enc=hex") format.encoding = ValueEncoding::kHex;
    if (word == "masked") format.masked = true;
  }
  if (declared) unit = declared;
  if (!unit || !variability) return std::nullopt;
  format.units = *unit;
  format.variability = *variability;
  return format;
}

std::string value_type(const Counter& counter) {
  if (counter.kind == ValueKind::kText) return "Ljava/lang/String;";
  const std::string type = counter.type > ' ' && counter.type < 127
                               ? std::string(1, counter.type)
                               : "\\" + std::to_string(static_cast<unsigned char>(counter.type));
  return counter.vector_length == 0 ? type : "[" + type;
}

std::string encode_text(std::string_view bytes, ValueEncoding& encoding) {
  if (fits_xml(bytes)) {
    encoding = ValueEncoding::kPlain;
    return std::string(bytes);
  }
  encoding = ValueEncoding::kEscaped;
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      text += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += "\\x";
      append_hex_byte(text, c);
    }
  }
  return text;
}

std::optional<std::string> decode_text(std::string_view text, ValueEncoding encoding) {
  switch (encoding) {
    case ValueEncoding::kPlain: return std::string(text);
    case ValueEncoding::kEscaped: return decode_escaped(text);
    case ValueEncoding::kHex: return decode_hex(text);
  }
  return std::nullopt;
}

std::string prologue_text(const Prologue& prologue, std::size_t capacity) {
  std::string text = prologue.byte_order == std::endian::little ? "byteOrder=little" : "byteOrder=big";
  text += ",version=" + std::to_string(prologue.major) + "." + std::to_string(prologue.minor);
  text += ",accessible=" + std::to_string(prologue.accessible ? 1 : 0);
  text += ",entries=" + std::to_string(prologue.entry_count) + ",used=" + std::to_string(prologue.used);
  text += ",overflow=" + std::to_string(prologue.overflow) + ",timestamp=" + std::to_string(prologue.modification_ns);
  return text + ",size=" + std::to_string(capacity);
}

std::optional<SavedPrologue> parse_prologue_text(std::string_view text) {
  SavedPrologue saved;
  for (std::string_view pair : split(text, ',')) {
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return std::nullopt;
    const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
    const auto number = parse_decimal<std::int64_t>(value);
    if (key == "byteOrder") {
      saved.prologue.byte_order = value == "big" ? std::endian::big : std::endian::little;
    } else if (key == "version") {
      const auto parts = split(value, '.');
      saved.prologue.major = parse_decimal<std::uint8_t>(parts.front()).value_or(0);
      saved.prologue.minor = parse_decimal<std::uint8_t>(parts.back()).value_or(0);
    } else if (!number) {
      return std::nullopt;
    } else if (key == "accessible") {
      saved.prologue.accessible = *number != 0;
    } else if (key == "entries") {
      saved.prologue.entry_count = static_cast<std::uint32_t>(*number);
    } else if (key == "overflow") {
      saved.prologue.overflow = static_cast<std::uint32_t>(*number);
    } else if (key == "timestamp") {
      saved.prologue.modification_ns = *number;
    } else if (key == "size") {
      if (*number < 0 || *number > static_cast<std::int64_t>(kMaxRegionSize)) return std::nullopt;
      saved.capacity = static_cast<std::size_t>(*number);
    }
  }
  return saved;
}

}  // namespace jtrace::perfdata
