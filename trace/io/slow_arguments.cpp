#include "trace/io/slow_arguments.h"

#include <algorithm>
#include <map>
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

CommonArguments common_of(std::uint64_t method, std::size_t calls, const Counts& counts) {
  CommonArguments common{.method = method, .calls = calls, .values = {}};
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (const auto& [text, times] : counts[i])
      if (2 * times > calls) common.values.push_back({i + 1, std::string(text), times});
  return common;
}

// 'argument 2 is "NO" in all of them', 'argument 3 is 7 in 41 of them'
std::string text_of(const CommonArguments& common, const CommonArguments::Value& value) {
  return "argument " + std::to_string(value.position) + " is " + printable(value.text) + " in " +
         (value.calls == common.calls ? "all" : std::to_string(value.calls)) + " of them";
}

}  // namespace

std::vector<CommonArguments> common_arguments(const std::vector<const SlowCall*>& calls) {
  std::map<std::uint64_t, std::pair<std::size_t, Counts>> methods;
  for (const SlowCall* call : calls) {
    if (call->arguments.empty()) continue;
    auto& [known, counts] = methods[call->method];
    ++known;
    count(counts, call->arguments);
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

void write_common_arguments(JsonWriter& json, const Scope& scope, const std::vector<CommonArguments>& common) {
  json.key("commonArguments").begin_array();
  for (const CommonArguments& each : common) {
    json.begin_object().member("method", scope.method_name(each.method)).member("calls", each.calls);
    json.key("arguments").begin_array();
    for (const CommonArguments::Value& value : each.values)
      json.begin_object()
          .member("position", value.position)
          .member("value", value.text)
          .member("calls", value.calls)
          .end_object();
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace jtrace::trace::io
