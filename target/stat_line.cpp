#include "target/stat_line.h"

#include "base/strings.h"

namespace jtrace::target {

// The name, field 2, may contain anything, blanks and parentheses too.
StatLine::StatLine(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end != text.npos) rest_ = trimmed(text.substr(name_end + 1));
}

char StatLine::state() const { return rest_.empty() ? '?' : rest_.front(); }

std::string_view StatLine::field(std::size_t place) const {
  std::string_view rest = rest_;
  for (std::size_t at = 3; at < place && !rest.empty(); ++at) {
    const std::size_t blank = rest.find(' ');
    rest.remove_prefix(blank == rest.npos ? rest.size() : blank + 1);
  }
  return rest.substr(0, rest.find(' '));
}

std::uint64_t StatLine::number(std::size_t place) const {
  return parse_decimal<std::uint64_t>(field(place)).value_or(0);
}

}  // namespace jtrace::target
