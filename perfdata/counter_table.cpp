#include "perfdata/counter_table.h"

#include <algorithm>
#include <cstdio>

#include "base/secrets.h"
#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

constexpr auto kNone = static_cast<std::uint8_t>(Units::kNone);
constexpr auto kBytes = static_cast<std::uint8_t>(Units::kBytes);
constexpr auto kTicks = static_cast<std::uint8_t>(Units::kTicks);
constexpr auto kConstant = static_cast<std::uint8_t>(Variability::kConstant);
constexpr auto kMonotonic = static_cast<std::uint8_t>(Variability::kMonotonic);

struct PseudoCounter {
  std::string_view name;
  Pseudo pseudo;
  std::uint8_t units;
  std::uint8_t variability;
  Quantity quantity;
};
constexpr PseudoCounter kPseudoCounters[] = {
    {"sun.perfdata.majorVersion", Pseudo::kMajor, kNone, kConstant, Quantity::kNone},
    {"sun.perfdata.minorVersion", Pseudo::kMinor, kNone, kConstant, Quantity::kNone},
    {"sun.perfdata.overflow", Pseudo::kOverflow, kBytes, kMonotonic, Quantity::kBytes},
    {"sun.perfdata.size", Pseudo::kSize, kBytes, kMonotonic, Quantity::kBytes},
    {"sun.perfdata.timestamp", Pseudo::kTimestamp, kTicks, kMonotonic, Quantity::kTicks},
    {"sun.perfdata.used", Pseudo::kUsed, kBytes, kMonotonic, Quantity::kBytes},
};

constexpr std::string_view kProperty = "java.property.";

bool may_hold_secrets(std::string_view name) {
  return name.starts_with(kProperty) || name == "java.rt.vmArgs" || name == "java.rt.vmFlags" ||
         name == "sun.rt.javaCommand";
}

}  // namespace

CounterTable::CounterTable(const Snapshot& snapshot, const NameFilter& filter, bool pseudo_counters)
    : layout_(snapshot.shared_layout()), traits_(VmTraits::of(snapshot)) {
  rows_.reserve(layout_->counters().size() + std::size(kPseudoCounters));
  for (const Counter& counter : layout_->counters()) {
    if (filter && !filter(counter.name)) continue;
    rows_.push_back({.name = counter.name,
                     .counter = &counter,
                     .secret = may_hold_secrets(counter.name),
                     .units = counter.units,
                     .variability = counter.variability,
                     .flags = counter.flags,
                     .metadata = describe(counter, traits_)});
  }
  for (const PseudoCounter& pseudo : kPseudoCounters) {
    if (!pseudo_counters || (filter && !filter(pseudo.name))) continue;
    rows_.push_back(
        {.name = pseudo.name,
         .pseudo = pseudo.pseudo,
         .units = pseudo.units,
         .variability = pseudo.variability,
         .metadata = {.quantity = pseudo.quantity,
                      .freshness = pseudo.variability == kConstant ? Freshness::kConstant : Freshness::kLive}});
  }
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
}

std::int64_t CounterTable::long_value(const Snapshot& snapshot, const Row& row) const {
  const Prologue& prologue = snapshot.prologue();
  switch (row.pseudo) {
    case Pseudo::kNone: return snapshot.long_value(*row.counter);
    case Pseudo::kMajor: return prologue.major;
    case Pseudo::kMinor: return prologue.minor;
    case Pseudo::kOverflow: return prologue.overflow;
    case Pseudo::kSize: return static_cast<std::int64_t>(snapshot.capacity);
    case Pseudo::kTimestamp: return prologue.modification_ns;
    case Pseudo::kUsed: return prologue.used;
  }
  return 0;
}

std::string CounterTable::text_value(const Snapshot& snapshot, const Row& row, bool show_secrets) const {
  if (row.counter == nullptr) return {};
  if (row.counter->kind == ValueKind::kText) {
    std::string text = utf8_from_modified(snapshot.text_value(*row.counter));
    if (!row.secret || show_secrets) return text;
    const bool whole = row.name.starts_with(kProperty) && looks_secret(row.name.substr(kProperty.size()));
    return whole ? "***" : mask_secrets(text);
  }
  std::string digits;
  for (std::byte byte : snapshot.raw_value(*row.counter)) {
    char pair[4];
    std::snprintf(pair, sizeof pair, "%02x", std::to_integer<unsigned>(byte));
    digits += pair;
  }
  return digits;
}

}  // namespace jtrace::perfdata
