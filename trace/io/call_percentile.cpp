#include "trace/io/call_percentile.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "base/time_text.h"
#include "trace/io/slow_call_text.h"
#include "trace/io/slow_counts.h"
#include "trace/io/statistics_rows.h"

namespace jtrace::trace::io {
namespace {

using Kind = CallPercentile::Kind;

constexpr std::uint64_t kMany = 50;  // one in so many

const Durations& times_of(const ScopeStatistics& statistics, std::uint64_t method) {
  static const Durations kNone;
  const auto found = statistics.slow.methods().find(method);
  return found == statistics.slow.methods().end() ? kNone : found->second;
}

}  // namespace

std::uint64_t least_recorded(const Scope& scope) { return parse_seconds(scope.slower_than).value_or(0); }

CallPercentile call_percentile(const ScopeStatistics& statistics, std::uint64_t method, double share) {
  const Durations& times = times_of(statistics, method);
  const std::uint64_t least = least_recorded(*statistics.scope);
  const std::uint64_t recorded = times.count(), all = counted_calls(statistics, method).value_or(0);
  if (least == 0 || all <= recorded) return {Kind::kIs, times.percentile(share)};
  const std::uint64_t rest = all - recorded, quick = quick_calls(statistics, method);
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
  if (rank <= quick) return {Kind::kBelow, least};
  if (rank <= rest) return {Kind::kUnknown, 0};
  const std::uint64_t time = times.percentile((static_cast<double>(rank - rest) - 0.5) / static_cast<double>(recorded));
  if (time < least) return {Kind::kBelow, least};
  return {(rest - quick) * kMany > all ? Kind::kAtLeast : Kind::kIs, time};
}

std::string percentile_text(const CallPercentile& percentile) {
  switch (percentile.kind) {
    case Kind::kIs: return millis(percentile.ns);
    case Kind::kAtLeast: return ">" + millis(percentile.ns);
    case Kind::kUnknown: return "?";
    case Kind::kBelow: break;
  }
  char text[32];
  std::snprintf(text, sizeof text, "<%g", static_cast<double>(percentile.ns) / 1e6);
  return text;
}

void write_percentiles_of_all(JsonWriter& json, const ScopeStatistics& statistics, std::uint64_t method) {
  if (least_recorded(*statistics.scope) == 0) return;
  if (counted_calls(statistics, method).value_or(0) <= times_of(statistics, method).count()) return;
  json.key("ofAllCalls").begin_object();
  for (const auto& [name, share] : {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p99", 0.99)}) {
    const CallPercentile percentile = call_percentile(statistics, method, share);
    json.key(name).begin_object();
    if (percentile.kind != Kind::kUnknown)
      json.member(percentile.kind == Kind::kIs      ? "seconds"
                  : percentile.kind == Kind::kBelow ? "below"
                                                    : "atLeast",
                  as_seconds(percentile.ns));
    json.end_object();
  }
  json.end_object();
}

}  // namespace jtrace::trace::io
