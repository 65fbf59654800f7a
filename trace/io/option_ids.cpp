#include "trace/io/option_ids.h"

#include "base/strings.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

// Which of the words of a value, separated by blanks, are ids.
struct Form {
  std::string_view key;
  std::vector<std::size_t> words;
  IdKind kind;
};
const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {kThreadStateKey, {0}, IdKind::kThread},    // "THREADID STATE"
      {kThreadMetKey, {0}, IdKind::kThread},      // "THREADID KIND"
      {kExitKey, {0}, IdKind::kThread},           // "THREADID"
      {kCutStackKey, {0}, IdKind::kThread},       // "THREADID"
      {kStackKey, {1}, IdKind::kThread},          // "PROBE THREADID FRAMES"
      {kSuppressedKey, {0, 2}, IdKind::kObject},  // "OBJID by OBJID"
  };
  return all;
}

void add(std::vector<IdInText>& found, std::string_view value, std::string_view digits, IdKind kind) {
  if (const auto id = parse_decimal<std::uint64_t>(digits))
    found.push_back({static_cast<std::size_t>(digits.data() - value.data()), digits.size(), *id, kind});
}

}  // namespace

std::vector<IdInText> ids_in_option(std::string_view key, std::string_view value) {
  std::vector<IdInText> found;
  constexpr std::string_view kThread = "thread=";
  if (key == kGapKey)
    for (const std::string_view part : split(value, ','))
      if (part.starts_with(kThread)) add(found, value, part.substr(kThread.size()), IdKind::kThread);
  for (const Form& form : forms()) {
    if (form.key != key) continue;
    const auto words = split(value, ' ');
    for (const std::size_t word : form.words)
      if (word < words.size()) add(found, value, words[word], form.kind);
  }
  return found;
}

}  // namespace jtrace::trace::io
