#include "perfdata/watch.h"

#include <algorithm>
#include <charconv>

#include "base/joined.h"
#include "base/strings.h"
#include "perfdata/derived.h"
#include "perfdata/gc_causes.h"
#include "perfdata/metadata.h"

namespace jtrace::perfdata {
namespace {

using Name = Expression::Name;

std::string shown(const Name& name) { return name.rate ? "rate(" + name.text + ")" : name.text; }

std::optional<double> plain_value(const std::string& name, const Snapshot& now, const Snapshot* before) {
  return find_derived(name) ? derived_value(name, now, before) : counter_value(name, now);
}

std::optional<double> value_of(const Name& name, const Snapshot& now, const Snapshot* before) {
  if (!name.rate) return plain_value(name.text, now, before);
  if (before == nullptr || now.monotonic_ns <= before->monotonic_ns) return std::nullopt;
  const auto later = plain_value(name.text, now, nullptr), earlier = plain_value(name.text, *before, nullptr);
  if (!later || !earlier) return std::nullopt;
  return (*later - *earlier) / (static_cast<double>(now.monotonic_ns - before->monotonic_ns) / 1e9);
}

Error unknown_name(const std::string& name, const Snapshot& snapshot) {
  std::vector<std::string_view> candidates;
  for (const DerivedName& derived : derived_names()) candidates.push_back(derived.name);
  for (const Counter& counter : snapshot.layout().counters())
    if (counter.kind == ValueKind::kLong) candidates.push_back(counter.name);
  Error error{.category = ErrorCategory::kUsage, .text = "this JVM has no counter '" + name + "'"};
  const Counter* text = snapshot.layout().find(name);
  if (text) error.text = "counter '" + name + "' is not a number";
  const std::string_view nearest = nearest_word(name, candidates);
  error.help = nearest.empty() ? "hsperf snap shows the counters" : "did you mean " + std::string(nearest) + "?";
  return error;
}

std::string_view unit_of(const Name& name, const Snapshot& snapshot) {
  if (name.rate) return "per second";
  if (const DerivedName* derived = find_derived(name.text)) return derived->unit;
  const Counter* counter = snapshot.layout().find(name.text);
  return counter ? quantity_unit(describe(*counter, VmTraits::of(snapshot)).quantity) : "";
}

Unit unit_of_name(const Name& name, const Snapshot& snapshot) {
  const Unit unit = unit_named(unit_of({.text = name.text}, snapshot));
  return name.rate ? rate_of(unit) : unit;
}

// The derived share that belongs to it: heap.share for heap.used.
std::string_view share_beside(std::string_view name) {
  if (name == "gc.time") return "gc.pause_share";
  const DerivedName* share = find_derived(std::string(name.substr(0, name.find('.'))) + ".share");
  return share ? share->name : "";
}

Error misfit_error(const Expression::Misfit& misfit) {
  const auto& [left, right] = misfit;
  const bool swapped = left.name == nullptr && right.name != nullptr;  // 5% < heap.used
  const auto& part = swapped ? right : left;
  const auto& other = swapped ? left : right;
  std::string text = part.text + " is " + std::string(unit_text(part.unit)) + ", and " + other.text + " is " +
                     std::string(unit_text(other.unit)) + ": " + std::string(what_fits(part.unit)) + " fits";
  if (const auto share = part.name && other.unit == Unit::kShare ? share_beside(part.name->text) : ""; !share.empty())
    text += ", or " + std::string(share) + " for " + other.text;
  return {.category = ErrorCategory::kUsage, .text = std::move(text)};
}

// "heap.used, old.used" for eden.used: the values that this JVM has, those of the same thing first, then those of the
// same kind.
std::string instead_of(std::string_view name, const Snapshot& now) {
  const std::string_view thing = name.substr(0, name.find('.') + 1), kind = name.substr(name.find('.'));
  std::vector<std::string> same_thing, same_kind;
  for (const DerivedName& each : derived_names()) {
    if (!has_derived(each.name, now)) continue;
    if (each.name.starts_with(thing)) same_thing.emplace_back(each.name);
    else if (each.name.ends_with(kind)) same_kind.emplace_back(each.name);
  }
  same_thing.insert(same_thing.end(), same_kind.begin(), same_kind.end());
  return joined(same_thing);
}

Error lack_of(const std::string& name, const Snapshot& now) {
  Error error{.category = ErrorCategory::kNotAttachable, .text = "this JVM has no " + name};
  const bool of_pauses = name.starts_with("gc.") || name == "full.count";
  if (of_pauses && counts_phases(now)) {
    error.help = kCountsPhases;
  } else {
    const std::string instead = instead_of(name, now);
    error.help = instead.empty() ? "hsperf snap shows what it has" : "it has " + instead;
  }
  return error;
}

bool is_of_two(const Name& name) {
  const DerivedName* derived = find_derived(name.text);
  return name.rate || (derived && derived->needs_two);
}

// ZGC of one generation has no eden: then nothing of the heap changes between collections.
bool is_eden_live(const Snapshot& snapshot, const VmTraits& traits) {
  const Counter* eden = snapshot.layout().find("sun.gc.generation.0.space.0.used");
  return eden && describe(*eden, traits).freshness != Freshness::kGc;
}

bool only_at_gc(const Name& name, const Snapshot& snapshot) {
  const VmTraits traits = VmTraits::of(snapshot);
  if (const DerivedName* derived = find_derived(name.text)) {
    const bool has_eden = name.text.starts_with("eden.") || name.text == "heap.used" || name.text == "heap.share";
    const bool moves = has_eden || name.text == "heap.capacity" || name.text.starts_with("old.");
    if (moves && traits.spaces_move) return false;
    return derived->only_at_gc || (has_eden && !is_eden_live(snapshot, traits));
  }
  const Counter* counter = snapshot.layout().find(name.text);
  return counter && describe(*counter, traits).freshness == Freshness::kGc;
}

}  // namespace

Result<Watch> Watch::of(Expression expression, const Snapshot& snapshot) {
  if (expression.names().empty())
    return fail(ErrorCategory::kUsage,
                "the condition names no counter and no derived value, so it says nothing of the JVM");
  for (const Name& name : expression.names())
    if (!find_derived(name.text) && !counter_value(name.text, snapshot)) return fail(unknown_name(name.text, snapshot));
  if (const auto misfit = expression.misfit([&](const Name& name) { return unit_of_name(name, snapshot); }))
    return fail(misfit_error(*misfit));
  return Watch(std::move(expression));
}

bool Watch::needs_two() const { return std::any_of(expression_.names().begin(), expression_.names().end(), is_of_two); }

std::optional<Error> Watch::lack(const Snapshot& now, const Snapshot* before) const {
  if (expression_.is_known([&](const Name& name) { return value_of(name, now, before); })) return std::nullopt;
  for (const Name& name : expression_.names())
    if (find_derived(name.text) && !has_derived(name.text, now)) return lack_of(name.text, now);
  for (const Name& name : expression_.names())
    if (before == nullptr && is_of_two(name))
      return Error{.category = ErrorCategory::kNotAttachable,
                   .text = shown(name) + " needs two moments, and here is one",
                   .help = "a running JVM has more"};
  return std::nullopt;
}

bool Watch::holds(const Snapshot& now, const Snapshot* before) const {
  return expression_.holds([&](const Name& name) { return value_of(name, now, before); });
}

std::vector<Watch::Value> Watch::values(const Snapshot& now, const Snapshot* before) const {
  std::vector<Value> out;
  for (const Name& name : expression_.names())
    out.push_back({.name = shown(name), .value = value_of(name, now, before), .unit = unit_of(name, now)});
  return out;
}

std::string Watch::explain(const Snapshot& now, const Snapshot* before) const {
  std::string text;
  bool all_known = true, of_pauses = false;  // of_pauses: some that is unknown
  for (const Name& name : expression_.names()) {
    if (!text.empty()) text += ", ";
    text += shown(name);
    const auto value = value_of(name, now, before);
    if (!value) {
      text += " unknown";
      all_known = false;
      of_pauses = of_pauses || name.text.starts_with("gc.") || name.text == "full.count";
      continue;
    }
    char digits[400];
    text.append("=").append(digits,
                            std::to_chars(digits, digits + sizeof digits, *value, std::chars_format::general, 9).ptr);
    if (const auto unit = unit_of(name, now); !unit.empty()) text.append(" ").append(unit);
    if (only_at_gc(name, now)) text += " (changes only at a collection)";
  }
  if (all_known && !expression_.is_known([&](const Name& name) { return value_of(name, now, before); }))
    text += "; a division by 0 has no value";
  if (of_pauses && counts_phases(now)) text.append("; ").append(kCountsPhases);
  return text;
}

NamedCondition named_condition(std::string_view text) {
  const std::size_t colon = text.find(':');  // conditions have none
  if (colon == text.npos) return {.name = {}, .text = std::string(text)};
  return {.name = std::string(trimmed(text.substr(0, colon))), .text = std::string(trimmed(text.substr(colon + 1)))};
}

LastingWatch::State LastingWatch::look(const Snapshot& now, const Snapshot* before) {
  if (before == nullptr && watch_.needs_two()) return State::kUnknown;
  if (!watch_.holds(now, before)) {
    since_.reset();
    return State::kFails;
  }
  if (!since_) since_ = now.monotonic_ns;
  return now.monotonic_ns - *since_ >= span_ ? State::kLasted : State::kHolds;
}

}  // namespace jtrace::perfdata
