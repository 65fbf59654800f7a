#include "base/class_names.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/joined.h"
#include "base/name_pattern.h"
#include "base/strings.h"

namespace jtrace {
namespace {

constexpr std::size_t kNamed = 4;  // classes in a sentence

std::vector<std::size_t> those(std::span<const std::string> names, const std::function<bool(const std::string&)>& is) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is(names[i])) found.push_back(i);
  return found;
}

// What would have been meant.
std::string advice(std::span<const std::string> names, const std::string& wanted, std::string_view otherwise) {
  if (const std::string array = wanted + "[]"; std::find(names.begin(), names.end(), array) != names.end())
    return "did you mean " + array + "?";
  if (const auto near = nearest_word(wanted, {names.begin(), names.end()}); !near.empty())
    return "did you mean " + std::string(near) + "?";
  if (wanted.empty()) return std::string(otherwise);
  const bool pattern = wanted.find_first_of("*?") != std::string::npos;
  const std::string wider = (wanted.front() == '*' ? "" : "*") + wanted + (wanted.back() == '*' ? "" : "*");
  std::set<std::string> parts;
  for (const std::string& name : names)
    if (matches_pattern(wider, name)) parts.insert(name);
  if (parts.empty()) return std::string(otherwise);
  return (pattern ? "a pattern is of the whole name: '" : "'") + wider + "' means " +
         classes_text(std::vector<std::string>(parts.begin(), parts.end()));
}

}  // namespace

Result<std::vector<std::size_t>> classes_meant(std::span<const std::string> names, const std::string& wanted,
                                               std::string_view otherwise) {
  auto found = those(names, [&](const std::string& name) { return name == wanted; });
  if (found.empty()) found = those(names, [&](const std::string& name) { return is_short_name(wanted, name); });
  if (found.empty() && wanted.find_first_of("*?") != std::string::npos)
    found = those(names, [&](const std::string& name) { return matches_pattern(wanted, name); });
  if (found.empty()) return fail(ErrorCategory::kNotFound, "no class " + wanted, advice(names, wanted, otherwise));
  return found;
}

std::string classes_text(std::span<const std::string> names) {
  if (names.size() == 1) return printable(names.front());
  std::string text = counted(names.size(), "class", "classes");
  if (names.empty()) return text;
  text += " (" + printable(joined(names.first(std::min(names.size(), kNamed))));
  return text + (names.size() > kNamed ? ", ...)" : ")");
}

}  // namespace jtrace
