#include "trace/io/slow_arguments.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "trace/io/scopes.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kFewCalls = 4;      // of fewer any two may agree by chance
constexpr std::size_t kMostShown = 5;     // methods
constexpr std::string_view kCut = "...";  // the end of arguments that are too long (kMaxArguments)

using Counts = std::vector<std::map<std::string_view, std::size_t>>;  // by position

void count(Counts& counts, std::string_view arguments) {
  const std::vector<std::string_view> values = arguments_of(arguments);
  if (counts.size() < values.size()) counts.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].empty() && values[i] != kCut && !opaque_arguments(values[i]).unread) ++counts[i][values[i]];
}

// The text of an argument in quotation marks, which may be cut; nothing of others.
std::optional<std::string_view> quoted(std::string_view argument) {
  const auto end = argument.rfind('"');
  if (argument.size() < 2 || argument.front() != '"' || end == 0) return std::nullopt;
  return argument.substr(1, end - 1);
}

constexpr char kEscape = '\\';  // texts are written with escapes: what begins with one is not compared

// How most of the texts begin: as long a part as `least` calls have.
std::string common_beginning(const std::map<std::string, std::size_t>& texts, std::size_t least) {
  std::string beginning;
  while (true) {
    std::map<char, std::size_t> next;
    for (const auto& [text, calls] : texts)
      if (text.size() > beginning.size() && text.starts_with(beginning)) next[text[beginning.size()]] += calls;
    const auto most =
        std::max_element(next.begin(), next.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == next.end() || most->second < least)
      return beginning.substr(0,
                              std::min(first_not_utf8(beginning).value_or(beginning.size()), beginning.find(kEscape)));
    beginning += most->first;
  }
}

std::size_t calls_with(const std::map<std::string, std::size_t>& texts, const std::string& beginning) {
  std::size_t calls = 0;
  for (const auto& [text, times] : texts) calls += text.starts_with(beginning) ? times : 0;
  return calls;
}

// The bytes of other characters are in the wrong order.
bool is_whole_backwards(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char each) { return static_cast<unsigned char>(each) < 0x80; });
}

std::string reversed(std::string_view text) { return {text.rbegin(), text.rend()}; }

// Of an argument that is a text in all calls, and not the same in most.
void add_parts(CommonArguments& common, std::size_t position, const std::map<std::string_view, std::size_t>& values) {
  std::map<std::string, std::size_t> texts, backwards;
  std::size_t known = 0;
  bool has_escapes = false;
  for (const auto& [value, calls] : values)
    if (const auto text = quoted(value)) {
      known += calls;
      texts[std::string(*text)] += calls;
      has_escapes = has_escapes || text->find(kEscape) != text->npos;
      if (value.ends_with('"')) backwards[reversed(*text)] += calls;
    }
  const std::size_t least = (9 * common.calls + 9) / 10;
  if (known < common.calls) return;
  if (const std::string begin = common_beginning(texts, least); !begin.empty())
    common.values.push_back({position, begin, calls_with(texts, begin), CommonArguments::Part::kBeginning});
  if (has_escapes) return;
  if (const std::string end = common_beginning(backwards, least); !end.empty() && is_whole_backwards(end))
    common.values.push_back({position, reversed(end), calls_with(backwards, end), CommonArguments::Part::kEnd});
}

CommonArguments common_of(std::uint64_t method, std::size_t calls, const Counts& counts) {
  CommonArguments common{.method = method, .calls = calls, .values = {}};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t before = common.values.size();
    for (const auto& [text, times] : counts[i])
      if (2 * times > calls) common.values.push_back({i + 1, std::string(text), times});
    if (common.values.size() == before) add_parts(common, i + 1, counts[i]);
  }
  return common;
}

// 'argument 2 is "NO" in all of them', 'argument 3 begins with "*" in 41 of them'
std::string text_of(const CommonArguments& common, const CommonArguments::Value& value) {
  const bool is_whole = value.part == CommonArguments::Part::kWhole;
  return "argument " + std::to_string(value.position) +
         (is_whole                                          ? " is "
          : value.part == CommonArguments::Part::kBeginning ? " begins with "
                                                            : " ends with ") +
         printable(is_whole ? value.text : "\"" + value.text + "\"") + " in " +
         (value.calls == common.calls ? "all" : std::to_string(value.calls)) + " of them";
}

}  // namespace

std::vector<CommonArguments> common_arguments(const std::vector<const SlowCall*>& calls) {
  std::map<std::uint64_t, std::pair<std::size_t, Counts>> methods;
  const auto add = [&](const auto& call) {
    if (call.arguments.empty()) return;
    auto& [known, counts] = methods[call.method];
    ++known;
    count(counts, call.arguments);
  };
  for (const SlowCall* call : calls) {
    add(*call);
    for (const SlowCall::Callee& callee : call->below) add(callee);
  }
  std::vector<CommonArguments> common;
  for (const auto& [method, known] : methods)
    if (known.first >= kFewCalls) common.push_back(common_of(method, known.first, known.second));
  std::erase_if(common, [](const CommonArguments& each) { return each.values.empty(); });
  std::stable_sort(common.begin(), common.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
  if (common.size() > kMostShown) common.resize(kMostShown);
  return common;
}

std::string common_arguments_text(const Scope& scope, const std::vector<CommonArguments>& common) {
  if (common.empty()) return {};
  std::string out = "  in common (quick calls may have it too):\n";
  for (const CommonArguments& each : common) {
    out += "    " + counted(each.calls, "slow call") + " of " + printable(scope.method_name(each.method)) + ": ";
    for (const CommonArguments::Value& value : each.values)
      out += (&value == &each.values.front() ? "" : ", ") + text_of(each, value);
    out += "\n";
  }
  return out;
}

constexpr std::array<const char*, 3> kPartKeys = {"value", "beginsWith", "endsWith"};

void write_common_arguments(JsonWriter& json, const Scope& scope, const std::vector<CommonArguments>& common) {
  json.key("commonArguments").begin_array();
  for (const CommonArguments& each : common) {
    json.begin_object().member("method", scope.method_name(each.method)).member("calls", each.calls);
    json.key("arguments").begin_array();
    for (const CommonArguments::Value& value : each.values)
      json.begin_object()
          .member("position", value.position)
          .member(kPartKeys[static_cast<std::size_t>(value.part)], value.text)
          .member("calls", value.calls)
          .end_object();
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace jtrace::trace::io
