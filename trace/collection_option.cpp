#include "trace/collection_option.h"

#include "base/strings.h"
#include "trace/clock_option.h"
#include "trace/gap_option.h"

namespace jtrace::trace {
namespace {

bool read_part(Collection& collection, std::string_view name, std::string_view value) {
  if (name == "kind") {
    collection.kind = value;
    return true;
  }
  if (name == "from" || name == "to") {
    const auto time = read_seconds(value);
    if (time) (name == "from" ? collection.from : collection.to) = *time;
    return time.has_value();
  }
  const bool is_amount = name == "before" || name == "after" || name == "total";
  if (!is_amount && name != "pauses") return true;
  const auto number = parse_decimal<std::uint64_t>(value);
  if (!number) return false;
  if (is_amount)
    (name == "before" ? collection.before : name == "after" ? collection.after : collection.total) = number;
  else collection.pauses = *number;
  return true;
}

}  // namespace

std::string collection_text(const Collection& collection) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!text.empty()) text += ',';
    text.append(name).append("=").append(value);
  };
  const auto add_amount = [&](const char* name, const std::optional<std::uint64_t>& bytes) {
    if (bytes) add(name, std::to_string(*bytes));
  };
  if (collection.from != 0) add("from", seconds_text(collection.from));
  add("to", seconds_text(collection.to));
  add("pauses", std::to_string(collection.pauses));
  add_amount("before", collection.before);
  add_amount("after", collection.after);
  add_amount("total", collection.total);
  if (!collection.kind.empty()) add("kind", collection.kind);
  if (!collection.cause.empty()) add("cause", collection.cause);
  return text;
}

std::optional<Collection> read_collection(std::string_view text) {
  Collection collection;
  constexpr std::string_view kCause = "cause=";
  const std::size_t cause = text.starts_with(kCause) ? 0 : text.find(",cause=");
  if (cause != std::string_view::npos) {
    collection.cause = text.substr(text.find('=', cause) + 1);
    text = text.substr(0, cause);
  }
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    if (!read_part(collection, part.substr(0, equals), part.substr(equals + 1))) return std::nullopt;
  }
  if (collection.to == 0) return std::nullopt;
  return collection;
}

}  // namespace jtrace::trace
