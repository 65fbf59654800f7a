#include "coreinspect/tools/shown_contents.h"

#include <algorithm>

#include "base/strings.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMost = 1u << 22;  // a damaged chain may have no end

}  // namespace

std::string ShownContents::text(const std::string& indent) const {
  std::string lines = indent + (is_map ? counted(count, "entry", "entries") : counted(count, "element")) + "\n";
  for (const Row& row : rows) lines += indent + "  " + row.key + " = " + row.value.text + "\n";
  if (left_out() > 0) lines += indent + "  ... " + std::to_string(left_out()) + " more (--rows N shows more)\n";
  return lines;
}

void ShownContents::write(JsonWriter& json) const {
  json.key("entries").begin_object().member("map", is_map).member("count", count).member("leftOut", left_out());
  json.key("rows").begin_array();
  for (const Row& row : rows) {
    json.begin_object().member("key", row.key).member("value", row.value.text);
    json.member("reference", hex(row.value.reference)).end_object();
  }
  json.end_array().end_object();
}

std::optional<ShownContents> shown_contents(
    JavaContents& contents, Address object, std::size_t most, const std::function<std::string(Address)>& text_of,
    const std::function<ShownContents::Value(Address key, Address value)>& value_of) {
  ShownContents shown;
  // Without walking through a million entries, if the size is known and so many rows are there.
  const auto size = contents.size(object);
  const auto take = [&](Address key, Address value) {
    const bool is_shown = shown.rows.size() < most;
    if (is_shown && shown.is_map) shown.rows.push_back({text_of(key), value_of(key, value)});
    else if (is_shown) shown.rows.push_back({"[" + std::to_string(shown.count) + "]", value_of(0, value)});
    return ++shown.count < kMost && !(size && shown.rows.size() >= most);
  };
  const auto whole = [&] {
    if (size && shown.rows.size() >= most) shown.count = std::max<std::uint64_t>(shown.count, *size);
    return shown;
  };
  if (contents.each_element(object, [&](Address element) { return take(0, element); })) return whole();
  shown = {.is_map = true, .rows = {}};
  if (contents.each_entry(object, take)) return whole();
  return std::nullopt;
}

}  // namespace jtrace::coreinspect
