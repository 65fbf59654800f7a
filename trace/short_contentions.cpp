#include "trace/short_contentions.h"

#include "base/strings.h"
#include "base/time_text.h"
#include "trace/clock_option.h"

namespace jtrace::trace {
namespace {
constexpr std::string_view kClass = "class=";
}  // namespace

std::string short_contentions_text(const ShortContentions& sum) {
  const std::string text = "count=" + std::to_string(sum.count) + ",total=" + seconds_text(sum.total);
  return sum.class_name.empty() ? text : text + "," + std::string(kClass) + sum.class_name;
}

// The class is last: its name may contain any character.
std::optional<ShortContentions> read_short_contentions(std::string_view text) {
  ShortContentions sum;
  while (!text.empty()) {
    if (text.starts_with(kClass)) {
      sum.class_name = text.substr(kClass.size());
      break;
    }
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    if (key != "count" && key != "total") continue;
    const auto number = key == "count" ? parse_decimal<std::uint64_t>(value) : parse_seconds(value);
    if (!number) return std::nullopt;
    (key == "count" ? sum.count : sum.total) = *number;
  }
  return sum;
}

}  // namespace jtrace::trace
