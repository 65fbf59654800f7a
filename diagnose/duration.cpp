#include "diagnose/duration.h"

#include <algorithm>

#include "base/clock.h"
#include "base/utc_text.h"

namespace jtrace::diagnose {

std::uint64_t least_duration(const Facts& facts, std::size_t first_look, std::span<const ThreadKey> threads) {
  const std::uint64_t seen = facts.looks.back().ns - facts.looks[first_look].ns;
  if (first_look != 0 || threads.empty()) return seen;
  std::uint64_t before = UINT64_MAX;
  for (const ThreadKey key : threads) {
    const ThreadFact* thread = facts.looks.front().find(key);
    before = std::min(before, thread && thread->asleep_ns ? *thread->asleep_ns : 0);
  }
  return seen + before;
}

std::string duration_words(std::uint64_t ns) {
  constexpr std::uint64_t kTenth = 100'000'000, kMinute = 600 * kTenth, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto tenths_of = [ns](std::uint64_t unit, const char* name) {
    const std::uint64_t tenths = ns / (unit / 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + name;
  };
  if (ns < 3 * kMinute) return tenths_of(10 * kTenth, "s");
  if (ns < 2 * kHour) return std::to_string(ns / kMinute) + " min";
  return ns < 2 * kDay ? tenths_of(kHour, "h") : tenths_of(kDay, "days");
}

// With the date if it was another day.
std::string lasted_words(const Facts& facts, std::uint64_t ns) {
  const std::string text = duration_words(ns);
  const std::uint64_t last = facts.looks.back().ns;
  if (!facts.clock || facts.clock->monotonic > last || ns > last) return text;
  const auto now = static_cast<std::int64_t>(facts.clock->realtime + (last - facts.clock->monotonic));
  const std::int64_t began = now - static_cast<std::int64_t>(ns);
  const char *day = "%Y-%m-%d", *time = "%H:%M:%S";
  const std::string date = utc_text(began, day) == utc_text(now, day) ? "" : utc_text(began, day) + " ";
  return text + " (since " + date + utc_text(began, time) + " UTC, or before)";
}

}  // namespace jtrace::diagnose
