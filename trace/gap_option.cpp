#include "trace/gap_option.h"

#include "base/strings.h"
#include "trace/clock_option.h"

namespace jtrace::trace {
std::optional<std::uint64_t> read_seconds(std::string_view seconds) {
  const std::size_t point = seconds.find('.');
  if (point == std::string_view::npos || seconds.size() - point != 10) return std::nullopt;
  const auto whole = parse_decimal<std::uint64_t>(seconds.substr(0, point));
  const auto fraction = parse_decimal<std::uint64_t>(seconds.substr(point + 1));
  if (!whole || !fraction || *whole > UINT64_MAX / kNanosPerSecond - 1) return std::nullopt;
  return *whole * kNanosPerSecond + *fraction;
}

std::string gap_text(const Gap& gap) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!text.empty()) text += ',';
    text.append(name).append("=").append(value);
  };
  if (gap.thread != 0) add("thread", std::to_string(gap.thread));
  if (gap.from != 0) add("from", seconds_text(gap.from));
  if (gap.to != 0) add("to", seconds_text(gap.to));
  if (gap.lost != 0) add("lost", std::to_string(gap.lost));
  return text;
}

std::optional<Gap> read_gap(std::string_view text) {
  Gap gap;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    std::optional<std::uint64_t> number;
    if (name == "from" || name == "to") number = read_seconds(value);
    else if (name == "thread" || name == "lost") number = parse_decimal<std::uint64_t>(value);
    else continue;
    if (!number) return std::nullopt;
    (name == "from" ? gap.from : name == "to" ? gap.to : name == "thread" ? gap.thread : gap.lost) = *number;
  }
  return gap;
}

}  // namespace jtrace::trace
