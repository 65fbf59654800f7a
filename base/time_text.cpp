#include "base/time_text.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace jtrace {
namespace {

constexpr double kLongest = 1e9;  // s

// The longer name first, where one ends like the other.
constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
    {"us", 1'000},          {"ms", 1'000'000},         {"s", 1'000'000'000},
    {"m", 60'000'000'000u}, {"h", 3'600'000'000'000u}, {"d", 86'400'000'000'000u}};

}  // namespace

std::optional<std::uint64_t> parse_duration(std::string_view text, PlainUnit plain) {
  auto unit = static_cast<double>(plain);
  for (const auto& [suffix, factor] : kUnits) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit = static_cast<double>(factor);
    break;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= 0) || value * unit > kLongest * 1e9) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * unit));
}

std::optional<std::uint64_t> parse_seconds(std::string_view text) { return parse_duration(text); }

std::string duration_text(std::uint64_t ns) {
  if (ns == 0) return "0s";
  std::string_view name = "ns";
  std::uint64_t unit = 1;
  for (const auto& [suffix, factor] : kUnits)
    if (ns % factor == 0) name = suffix, unit = factor;
  return std::to_string(ns / unit).append(name);
}

}  // namespace jtrace
