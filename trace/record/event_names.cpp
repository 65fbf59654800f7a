#include "trace/record/event_names.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/strings.h"
#include "trace/record/control.h"
#include "trace/record/event_words.h"

namespace jtrace::trace::record {
namespace {

static_assert(
    [] {
      for (const EventRow& row : kEventRows)
        for (const EventRow& other : kEventRows)
          if (row.words.empty() && row.when != EventWhen::kOption && row.bit != other.bit &&
              row.first_group() == other.first_group())
            return false;
      return true;
    }(),
    "an event of events.def without words has a first group that is not its own: the word would mean others too");

struct Word {
  std::string_view name;
  std::uint64_t bits;
};

void add(std::vector<Word>& words, std::string_view name, std::uint64_t bit) {
  if (name.empty()) return;
  for (Word& word : words)
    if (word.name == name) {
      word.bits |= bit;
      return;
    }
  words.push_back({name, bit});
}

template <class Condition>
std::uint64_t bits_with(Condition condition) {
  std::uint64_t bits = 0;
  for (const EventRow& row : kEventRows)
    if (condition(row)) bits |= row.bit;
  return bits;
}
// "all" has the events that slow the JVM little. Events that rewrite the bytecode of all included classes must be
// named.
bool is_in_all(const EventRow& row) { return row.when == EventWhen::kDefault || row.when == EventWhen::kAll; }

const std::vector<Word>& groups() {
  static const std::vector<Word> made = [] {
    std::vector<Word> words;
    for (const EventRow& row : kEventRows)
      for (const std::string_view name : split(row.groups, ' ')) add(words, name, row.bit);
    words.push_back({"all", bits_with(is_in_all)});
    return words;
  }();
  return made;
}
// Elements, and the groups of events that have no element of their own.
const std::vector<Word>& elements() {
  static const std::vector<Word> made = [] {
    std::vector<Word> words;
    for (const EventRow& row : kEventRows) {
      const auto names = split(row.words.empty() ? row.groups : row.words, ' ');
      for (const std::string_view name : names) add(words, name, row.bit);
    }
    return words;
  }();
  return made;
}

// Definitions are written wherever they are referred to; asking for them asks for nothing else.
constexpr std::string_view kAlways[] = {"methodDef", "objDef"};

// Each word once: if a group has the name of one of its events, the word means the group.
template <class Function>
void for_each_word(Function function) {
  const auto is_group = [](const Word& word) {
    return std::any_of(groups().begin(), groups().end(), [&](const Word& group) { return group.name == word.name; });
  };
  for (const Word& word : groups()) function(word);
  for (const Word& word : elements())
    if (!is_group(word)) function(word);
}

// Nothing: there is no such word.
std::optional<std::uint64_t> bits_of(std::string_view name) {
  if (std::ranges::find(kAlways, name) != std::end(kAlways)) return 0;
  std::optional<std::uint64_t> found;
  for_each_word([&](const Word& word) {
    if (word.name == name) found = word.bits;
  });
  return found;
}

tl::unexpected<Error> unknown(std::string_view name) {
  std::vector<std::string_view> available;
  for_each_word([&](const Word& word) { available.push_back(word.name); });
  const std::string_view nearest = nearest_word(name, available);
  return fail(ErrorCategory::kUsage, "unknown event '" + std::string(name) + "'",
              nearest.empty() ? "there are " + event_words_help() : "did you mean '" + std::string(nearest) + "'?");
}

}  // namespace

std::uint64_t default_events() {
  return bits_with([](const EventRow& row) { return row.when == EventWhen::kDefault; });
}

Result<std::uint64_t> events_of_words(const std::vector<std::string>& words) {
  std::uint64_t bits = 0;
  for (const std::string& word : words) {
    if (word.empty()) return fail(ErrorCategory::kUsage, "an event's name is missing between two commas");
    const auto more = bits_of(word);
    if (!more) return unknown(word);
    bits |= *more;
  }
  return bits;
}

std::uint64_t events_in(std::string_view text) {
  std::uint64_t bits = 0;
  for (const std::string_view word : split(text, ',')) bits |= bits_of(word).value_or(0);
  return bits;
}

std::uint64_t events_lacking(std::string_view line) {
  const std::size_t end = line.find(": ");
  if (end == std::string_view::npos) return 0;
  std::uint64_t bits = 0;
  std::string_view rest = line.substr(0, end);
  while (!rest.empty()) {
    const std::size_t word_end = rest.find_first_of(", ");
    bits |= bits_of(rest.substr(0, word_end)).value_or(0);
    rest.remove_prefix(word_end == std::string_view::npos ? rest.size() : word_end + 1);
  }
  return bits;
}

std::string words_of_events(std::uint64_t bits) {
  std::string text;
  for (const Word& word : elements()) {
    if ((bits & word.bits) == 0) continue;
    if (!text.empty()) text += ',';
    text += word.name;
  }
  return text;
}

std::string event_groups_help() {
  std::string cheap, rewriting, others;
  for (const Word& group : groups()) {
    const bool rewrites = (group.bits & kCalloutEvents) != 0;
    const bool in_all = (group.bits & ~bits_with(is_in_all)) == 0;
    if (group.name != "all") (rewrites ? rewriting : in_all ? cheap : others).append(" ").append(group.name);
  }
  return cheap.substr(1) + " (all: these; default: these without " +
         words_of_events(bits_with(is_in_all) & ~default_events()) + "); " + rewriting.substr(1) +
         " (they rewrite bytecode);" + others;
}

std::string event_words_help() {
  std::string text;
  for_each_word([&](const Word& word) {
    if (!text.empty()) text += ", ";
    text += word.name;
  });
  return text;
}

}  // namespace jtrace::trace::record
