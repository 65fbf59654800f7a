// strings: which texts are in the heap, how often, and by which field the program holds them.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/name_pattern.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/graph/object_fields.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/secrets.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kKept = 1u << 16, kShown = 200;  // bytes of a text; of its begin in a row

// A text, or the begin of a long one, which its size and hash tell from others.
struct TextKey {
  std::string begin;
  std::size_t size = 0, hash = 0;
  bool is_cut() const { return begin.size() < size; }
  auto operator<=>(const TextKey&) const = default;
};

struct Text {
  std::uint64_t count = 0, bytes = 0;
  std::map<std::uint32_t, std::uint64_t> holders;  // objects by field
};

TextKey key_of(const std::string& text) {
  return {.begin = std::string(utf8_prefix(text, kKept)), .size = text.size(), .hash = std::hash<std::string>()(text)};
}

std::map<TextKey, Text> find_texts(const ObjectGraph& graph, const std::string& pattern, HolderFields& holders) {
  const ObjectFields fields(graph);
  const bool redacted = graph.file().is_redacted();
  std::map<TextKey, Text> texts;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.is_class(i) || graph.strength(i) == Strength::kGarbage) continue;
    if (graph.classes()[graph.class_of(i)].name != "java.lang.String") continue;
    const std::string text = fields.text(i, ObjectFields::kWhole);
    if (redacted && text == kRedacted) continue;
    if (!is_chosen(pattern, text)) continue;
    const std::uint32_t value = fields.reference(i, "value");
    Text& found = texts[key_of(text)];
    ++found.count;
    found.bytes += graph.bytes(i) + (value == kNoObject ? 0 : graph.bytes(value));
    ++found.holders[holders.of(i)];
  }
  return texts;
}

// The field that holds most of them.
std::string largest(const Text& text, const HolderFields& holders) {
  const auto most = std::max_element(text.holders.begin(), text.holders.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == text.holders.end() ? "" : holders.name(most->first);
}

std::string shown(const std::string& begin, std::size_t size) {
  const std::string_view text = utf8_prefix(begin, kShown);
  return quoted_text(text) + (text.size() < size ? "..." : "");
}

}  // namespace

Result<ViewResult> graph_strings(const ObjectGraph& graph, const ViewOptions& options) {
  const HprofFile& file = graph.file();
  if (file.is_redacted() && file.kept_fields().empty())
    return fail(ErrorCategory::kRefused, "the heap dump is redacted: its strings have no text");
  ViewResult result{.missing = graph.missing()};
  if (file.is_redacted())
    result.missing.push_back("strings that only other fields than these hold: the heap dump is redacted but for " +
                             printable(file.kept_fields()));
  const ShortestPaths paths(graph);
  HolderFields holders(graph, paths);
  const auto texts = find_texts(graph, options.arguments.front(), holders);
  std::vector<const std::pair<const TextKey, Text>*> rows;
  std::uint64_t all = 0;
  for (const auto& each : texts) {
    rows.push_back(&each);
    all += each.second.count;
  }
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->second.count > b->second.count; });
  if (const std::size_t most = rows_of(options, options.json ? rows.size() : kGraphRows); rows.size() > most)
    rows.resize(most);
  SecretMask mask(options.show_secrets);
  JsonWriter json(result.out);
  if (options.json)
    result.members = "\"strings\":" + std::to_string(all) + ",\"texts\":" + std::to_string(texts.size());
  else
    result.out = counted(all, "reachable string") + ", " + counted(texts.size(), "different text") + "\n" +
                 (rows.empty() ? "" : "     strings          bytes  text; most of them by which field\n");
  for (const auto* row : rows) {
    const std::string holder = largest(row->second, holders);
    const bool secret = !mask.shows() && names_secret_holder(holder);
    const std::string text = mask.value_of(secret, row->first.begin);
    const bool cut = !secret && row->first.is_cut();
    if (options.json) {
      json.begin_object().member("text", text).member("strings", row->second.count).member("bytes", row->second.bytes);
      if (cut) json.member("cut", true).member("textBytes", row->first.size);
      json.member("holder", holder).member("fields", row->second.holders.size()).end_object();
      continue;
    }
    char line[64];
    std::snprintf(line, sizeof line, "%12llu %14llu  ", static_cast<unsigned long long>(row->second.count),
                  static_cast<unsigned long long>(row->second.bytes));
    result.out += line + shown(text, cut ? row->first.size : text.size()) + "; " + printable(holder) + "\n";
  }
  result.masked = mask.count();
  return result;
}

}  // namespace jtrace::coreinspect
