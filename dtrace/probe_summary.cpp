#include "dtrace/probe_summary.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace jtrace::dtrace {
namespace {

struct Ending {
  std::string_view suffix, pair;
  bool begins;
};
// The first match counts.
constexpr Ending kEndings[] = {
    {"__begin", "", true},
    {"__end", "", false},
    {"__entry", "", true},
    {"__return", "", false},
    {"contended__enter", "contended", true},
    {"contended__entered", "contended", false},
    {"monitor__wait", "monitor__wait", true},
    {"monitor__waited", "monitor__wait", false},
};
// X__end probes that end no X__begin.
constexpr std::string_view kUnpaired[] = {"class__initialization__end"};
constexpr std::size_t kDeepest = 10'000;

// "gc" for gc__begin and gc__end.
std::string pair_name(const Probe& probe, bool& begins) {
  for (const std::string_view name : kUnpaired)
    if (probe.name == name) return {};
  for (const Ending& ending : kEndings) {
    if (!probe.name.ends_with(ending.suffix)) continue;
    begins = ending.begins;
    if (!ending.pair.empty()) return probe.provider + ":" + std::string(ending.pair);
    return probe.provider + ":" + probe.name.substr(0, probe.name.size() - ending.suffix.size());
  }
  return {};
}

void append_row(std::string& out, const char* format, auto... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  out += line;
}

double milliseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

ProbeSummary::ProbeSummary(const std::vector<TracedSite>& sites) : sites_(sites) {
  std::map<std::string, std::size_t> by_name;
  for (const TracedSite& site : sites) {
    Role role;
    const std::string name = site.chosen ? pair_name(*site.probe, role.begins) : "";
    if (!name.empty()) {
      const auto [at, is_new] = by_name.try_emplace(name, pairs_.size());
      if (is_new) pairs_.push_back({name});
      role.pair = at->second;
    }
    roles_.push_back(role);
  }
}

void ProbeSummary::add(const ProbeRecord& record) {
  const Role role = roles_[record.site];
  if (role.pair == SIZE_MAX) return;
  auto& open = open_[std::uint64_t{record.tid} << 32 | role.pair];
  if (role.begins) {
    if (open.size() < kDeepest) open.push_back(record.time);
    return;
  }
  if (open.empty()) return;  // began before the trace
  const std::uint64_t took = record.time - open.back();
  open.pop_back();
  Pair& pair = pairs_[role.pair];
  ++pair.count;
  pair.total += took;
  pair.longest = std::max(pair.longest, took);
  std::size_t decade = 0;
  for (std::uint64_t limit = 1000; decade < kDecades && took >= limit; limit *= 10) ++decade;
  ++pair.histogram[decade];
}

std::string ProbeSummary::text(const std::vector<SiteCounters>& counters) const {
  std::map<std::string, SiteCounters> by_probe;
  for (std::size_t i = 0; i < sites_.size() && i < counters.size(); ++i) {
    if (!sites_[i].chosen) continue;
    SiteCounters& sum = by_probe[sites_[i].probe->full_name()];
    sum.hits += counters[i].hits;
    sum.lost += counters[i].lost;
    sum.unreadable += counters[i].unreadable;
  }
  std::string out;
  append_row(out, "%-48s %12s %12s\n", "PROBE", "HITS", "LOST");
  for (const auto& [name, sum] : by_probe)
    append_row(out, "%-48s %12llu %12llu\n", name.c_str(), static_cast<unsigned long long>(sum.hits),
               static_cast<unsigned long long>(sum.lost));
  if (std::none_of(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.count != 0; })) return out;
  append_row(out, "\n%-40s %10s %12s %12s %12s  %s\n", "DURATION", "COUNT", "TOTAL ms", "MEAN ms", "LONGEST ms",
             "<1us <10us <100us <1ms <10ms <100ms <1s <10s more");
  for (const Pair& pair : pairs_) {
    if (pair.count == 0) continue;
    append_row(out, "%-40s %10llu %12.3f %12.4f %12.3f ", pair.name.c_str(),
               static_cast<unsigned long long>(pair.count), milliseconds(pair.total),
               milliseconds(pair.total) / static_cast<double>(pair.count), milliseconds(pair.longest));
    for (const std::uint64_t count : pair.histogram) append_row(out, " %llu", static_cast<unsigned long long>(count));
    out += '\n';
  }
  return out;
}

}  // namespace jtrace::dtrace
