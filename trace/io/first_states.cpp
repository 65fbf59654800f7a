#include "trace/io/first_states.h"

#include <algorithm>

#include "base/strings.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {

void FirstStates::note(const Event& event, const Scope& scope) {
  if (scope.snapshot) return;
  OfScope& mine = scopes_[scope.index];
  mine.scope = &scope;
  if (const auto gap = gap_of(event, scope)) return note_gap(*gap, mine);
  if (const auto* option = std::get_if<Option>(&event)) return note_option(*option, mine);
  const Common common = common_of(event);
  if (common.time.present()) mine.last = std::max(mine.last, common.time.ns());
  if (mine.open.empty()) return;
  const ElementKind kind = element_kind(event);
  if (kind == ElementKind::kTraceEnd) return end_all(mine);
  // The definition of a class names the thread that caused it, perhaps long ago.
  const bool defines = kind == ElementKind::kThreadStart || kind == ElementKind::kClassDef;
  if (!defines && common.thread.present()) end(mine, common.thread.value(), common.time.value_or(mine.last));
}

void FirstStates::note_gap(const Gap& gap, OfScope& mine) {
  if (gap.thread == 0) return end_all(mine);
  end(mine, gap.thread, gap.from != 0 ? gap.from : mine.last);
}

void FirstStates::note_option(const Option& option, OfScope& mine) {
  const std::string_view key = option.key.view(), value = option.value.view();
  if (key == kPausedKey || key == kContinuesKey) return end_all(mine);
  if (key != kThreadStateKey) return;
  const std::size_t blank = value.find(' ');
  const auto thread = parse_decimal<std::uint64_t>(value.substr(0, blank));
  if (!thread || blank == std::string_view::npos) return;
  const auto known = mine.scope->threads.find(*thread);
  if (known == mine.scope->threads.end() || !known->second.start.present()) return;
  const std::uint64_t since = known->second.start.ns();
  mine.open.insert_or_assign(*thread, FirstState{std::string(value.substr(blank + 1)), since, since});
}

void FirstStates::end(OfScope& mine, std::uint64_t thread, std::uint64_t time) {
  const auto found = mine.open.find(thread);
  if (found == mine.open.end()) return;
  found->second.until = std::max(time, found->second.since);
  listener_(*mine.scope, thread, found->second);
  mine.open.erase(found);
}

void FirstStates::end_all(OfScope& mine) {
  while (!mine.open.empty()) end(mine, mine.open.begin()->first, mine.last);
}

void FirstStates::finish() {
  for (auto& [index, mine] : scopes_) end_all(mine);
}

}  // namespace jtrace::trace::io
