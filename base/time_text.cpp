#include "base/time_text.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace jtrace {

std::optional<std::uint64_t> parse_seconds(std::string_view text) {
  double unit = 1;
  for (const auto& [suffix, factor] :
       {std::pair<std::string_view, double>{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit = factor;
    break;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= 0) || value * unit > 1e9) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * unit * 1e9));
}

}  // namespace jtrace
