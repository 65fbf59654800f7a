#include "session/options/filter_rule.h"

#include <algorithm>
#include <cctype>

#include "base/file.h"
#include "base/strings.h"
#include "session/options/text_check.h"
#include "trace/record/frame_bytes.h"

namespace jtrace::session {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t", start), text.size());
    if (end > start) words.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

tl::unexpected<Error> wrong(std::string_view text, const std::string& why) {
  return fail(ErrorCategory::kUsage, "filter '" + std::string(text) + "': " + why,
              "a rule is CLASS-PATTERN [METHOD-PATTERN] [include|exclude], as in 'java.util.* exclude'");
}

tl::unexpected<Error> wrong_mode(std::string_view rule, const std::string& word, std::size_t words) {
  const std::string_view nearest = nearest_word(lower(word), {"include", "exclude"});
  return wrong(rule, "the mode '" + word + "' is neither include nor exclude" +
                         (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?") +
                         (words == 2 ? " A method of that name: 'CLASS " + word + " include'" : ""));
}

Result<> check_pattern(std::string_view rule, std::string_view pattern) {
  const auto stars = std::count(pattern.begin(), pattern.end(), '*');
  if (stars > 1) return wrong(rule, "'" + std::string(pattern) + "' has more than one '*'");
  if (stars == 1 && pattern.front() != '*' && pattern.back() != '*')
    return wrong(rule, "'" + std::string(pattern) + "' has its '*' neither at the start nor at the end");
  if (pattern.find('?') != pattern.npos)
    return wrong(rule, "'" + std::string(pattern) + "' has a '?': only '*' stands for other characters");
  return {};
}

}  // namespace

Result<FilterRule> parse_filter_rule(std::string_view text) {
  JTRACE_RETURN_IF_ERROR(check_utf8("a filter", text));
  const std::string_view rule = trimmed(text);
  const std::vector<std::string> words = words_of(rule);
  if (words.empty()) return wrong(rule, "it is empty");
  if (words.size() > 3) return wrong(rule, "it has more than three words");
  const std::string mode = lower(words.back());
  const bool has_mode = mode == "include" || mode == "exclude";
  if (words.size() == 1 && has_mode) return wrong(rule, "the pattern is empty");
  const bool is_mistyped = !has_mode && !nearest_word(mode, {"include", "exclude"}).empty();
  if (words.size() == 3 && !has_mode) return wrong_mode(rule, words.back(), words.size());
  if (words.size() == 2 && is_mistyped) return wrong_mode(rule, words.back(), words.size());
  const bool has_method = words.size() == 3 || (words.size() == 2 && !has_mode);
  FilterRule made{words[0], has_method ? words[1] : "*", mode != "exclude"};
  std::replace(made.class_pattern.begin(), made.class_pattern.end(), '/', '.');
  JTRACE_RETURN_IF_ERROR(check_pattern(rule, made.class_pattern));
  JTRACE_RETURN_IF_ERROR(check_pattern(rule, made.method_pattern));
  return made;
}

Result<std::vector<FilterRule>> read_filter_file(const std::string& path) {
  auto text = read_file(path, 1u << 20);
  if (!text) return fail(text.error().with_context("reading filters"));
  std::vector<FilterRule> rules;
  std::size_t number = 0;
  for (const std::string_view line : split(*text, '\n')) {
    ++number;
    const std::string_view rule = trimmed(line);
    if (rule.empty() || rule.front() == '#') continue;
    auto made = parse_filter_rule(rule);
    if (!made) return fail(made.error().with_context(path + " line " + std::to_string(number)));
    rules.push_back(std::move(*made));
  }
  return rules;
}

void exclude_the_rest(std::vector<FilterRule>& rules) {
  const bool only_include = std::ranges::all_of(rules, [](const FilterRule& rule) { return rule.include; });
  if (rules.empty() || !only_include) return;
  if (rules.back() != FilterRule{"*", "*", true}) rules.push_back({"*", "*", false});
}

Result<> check_size(const std::vector<FilterRule>& rules) {
  constexpr std::size_t kRoom = trace::record::kMaxFrameSize - 4096;  // Start's other fields
  const std::size_t size = encode_filter_rules(rules).size();
  if (size <= kRoom) return {};
  return fail(ErrorCategory::kUsage,
              std::to_string(rules.size()) + " filters take " + std::to_string(size) + " bytes, the agent takes " +
                  std::to_string(kRoom),
              "one pattern with a '*' matches many classes");
}

std::string to_text(const FilterRule& rule) {
  const std::string methods = rule.method_pattern == "*" ? "" : " " + rule.method_pattern;
  return rule.class_pattern + methods + (rule.include ? " include" : " exclude");
}

InternalRules::InternalRules(const std::vector<FilterRule>& rules) : rules_(rules) {
  for (FilterRule& rule : rules_) std::replace(rule.class_pattern.begin(), rule.class_pattern.end(), '.', '/');
}

trace::record::frame_types::Rules InternalRules::fields() const {
  trace::record::frame_types::Rules made;
  for (const FilterRule& rule : rules_)
    made.push_back({static_cast<std::uint8_t>(rule.include), rule.class_pattern, rule.method_pattern});
  return made;
}

std::string encode_filter_rules(const std::vector<FilterRule>& rules) {
  const InternalRules internal(rules);
  return trace::record::frame_bytes(trace::record::FiltersFields{.rules = internal.fields()});
}

std::string_view generic_word(std::string_view pattern) {
  if (!pattern.empty() && pattern.back() == '*') return "suffix";
  if (!pattern.empty() && pattern.front() == '*') return "prefix";
  return "none";
}

trace::Filter to_element(const FilterRule& rule, bool extensions) {
  trace::Filter filter{.pattern = rule.class_pattern,
                       .genericPattern = generic_word(rule.class_pattern),
                       .mode = rule.include ? "include" : "exclude"};
  if (extensions && rule.method_pattern != "*") {
    filter.methodPattern = rule.method_pattern;
    filter.methodGenericPattern = generic_word(rule.method_pattern);
  }
  return filter;
}

}  // namespace jtrace::session
