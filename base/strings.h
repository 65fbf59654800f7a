// Text: conversion of numbers, escaping, and the JVM's modified UTF-8. Pure functions, any thread.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace {

// The whole text as a decimal number; nothing for "12abc", "", "+1" and values that do not fit T.
template <std::integral T>
std::optional<T> parse_decimal(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

template <std::integral T>
void append_decimal(std::string& out, T value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_hex(std::string& out, std::uint64_t value);  // lower case, with 0x

// "64M", "1.5G", "512k", "10" in bytes (powers of 1024), or nothing. A fraction of a unit is rounded to the nearest
// byte; bytes themselves have none.
std::optional<std::uint64_t> parse_size(std::string_view text);

// Appends `text`, which should be UTF-8, as an XML attribute value or character data: & < > " and tab, newline, return
// are escaped; characters that XML 1.0 does not allow (2.2 "Char"), and bytes that are not UTF-8, become U+FFFD.
void append_xml_escaped(std::string& out, std::string_view text);
// Appends `text` for a JSON string (RFC 8259), without the quotes; bytes that are not UTF-8 become U+FFFD.
void append_json_escaped(std::string& out, std::string_view text);

// The position of the first byte that is not valid UTF-8, or nothing.
std::optional<std::size_t> first_not_utf8(std::string_view text);

// Converts modified UTF-8 (JVMS 4.4.7: C0 80 for NUL, surrogate pairs of three bytes each) to UTF-8. Lone surrogates
// and bytes that are not modified UTF-8 become U+FFFD.
std::string utf8_from_modified(std::string_view text);

// "1 thread", "2 threads", "2 classes".
template <std::integral T>
std::string counted(T count, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(one);
  return many.empty() ? text.append(one) + "s" : text.append(many);
}
template <std::integral T>
std::string is_are(T count) {
  return count == 1 ? "is" : "are";
}
template <std::integral T>
std::string was_were(T count) {
  return count == 1 ? "was" : "were";
}

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trimmed(std::string_view text);  // without blanks, tabs and newlines at both ends
// Text of a target, made safe for a terminal: each control character becomes '?'.
std::string printable(std::string text);

// The candidate with the smallest edit distance from `word`, if it is small enough for a likely typing error; else the
// shortest of those that begin with `word`, of at least three characters; otherwise empty.
std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& candidates);

// True if a key names a secret (password, passwd, secret, token, credential, ...key): its value is masked by default.
bool looks_secret(std::string_view key);

}  // namespace jtrace
