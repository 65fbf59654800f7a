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

// With the date where the day may be another one.
std::string lasted_words(const Facts& facts, std::uint64_t ns) {
  constexpr std::uint64_t kHours = 12 * 3600 * kNanosPerSecond;
  const std::string text = duration_words(ns);
  const std::uint64_t last = facts.looks.back().ns;
  if (!facts.clock || facts.clock->monotonic > last || ns > last) return text;
  const std::uint64_t began = facts.clock->realtime + (last - facts.clock->monotonic) - ns;
  const char* format = ns < kHours ? "%H:%M:%S" : "%Y-%m-%d %H:%M";
  return text + " (since " + utc_text(static_cast<std::int64_t>(began), format) + " UTC, or before)";
}

}  // namespace jtrace::diagnose
