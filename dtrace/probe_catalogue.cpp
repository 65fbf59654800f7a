#include "dtrace/probe_catalogue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/name_pattern.h"
#include "base/strings.h"

namespace jtrace::dtrace {
namespace {

struct Row {
  std::string_view name;  // a pattern
  std::string_view flag;
  std::string_view arguments;  // NAME[:KIND]...; s symbol, t text, a address, f flag
};

constexpr std::string_view kClassThread = "javaThread monitor:a class:s";
constexpr std::string_view kMethod = "javaThread class:s method:s signature:s";
constexpr std::string_view kThread = "name:t javaThread osThread daemon:f";
constexpr std::string_view kPool = "manager:s pool:s init used committed max";

// The first match counts.
constexpr Row kHotspot[] = {
    {"vm__init__begin", "", ""},
    {"vm__init__end", "", ""},
    {"vm__shutdown", "", ""},
    {"thread__start", "", kThread},
    {"thread__stop", "", kThread},
    {"thread__sleep__begin", "", "milliseconds"},
    {"thread__sleep__end", "", "interrupted:f"},
    {"thread__yield", "", ""},
    {"thread__park__begin", "", "parker:a absolute:f time"},
    {"thread__park__end", "", "parker:a"},
    {"thread__unpark", "", "parker:a"},
    {"class__loaded", "", "class:s loader:a shared:f"},
    {"class__unloaded", "", "class:s loader:a shared:f"},
    {"class__initialization__*", "", "class:s loader:a threadType wait"},
    {"gc__begin", "", "full:f"},
    {"gc__end", "", ""},
    {"mem__pool__gc__*", "", kPool},
    {"vmops__*", "", "name:s mode"},
    {"method__compile__begin", "", "compiler:s class:s method:s signature:s"},
    {"method__compile__end", "", "compiler:s class:s method:s signature:s success:f"},
    {"compiled__method__load", "", "class:s method:s signature:s code:a size"},
    {"compiled__method__unload", "", "class:s method:s signature:s"},
    {"monitor__wait", "DTraceMonitorProbes", "javaThread monitor:a class:s timeout"},
    {"monitor__*", "DTraceMonitorProbes", kClassThread},
    {"object__alloc", "DTraceAllocProbes", "javaThread class:s size"},
    {"method__entry", "DTraceMethodProbes", kMethod},
    {"method__return", "DTraceMethodProbes", kMethod},
};

const Row* find_row(std::string_view provider, std::string_view name) {
  if (provider != "hotspot") return nullptr;
  for (const Row& row : kHotspot)
    if (matches_pattern(row.name, name)) return &row;
  return nullptr;
}

ArgumentKind kind_of(char letter) {
  switch (letter) {
    case 's': return ArgumentKind::kSymbol;
    case 't': return ArgumentKind::kText;
    case 'a': return ArgumentKind::kAddress;
    case 'f': return ArgumentKind::kFlag;
    default: return ArgumentKind::kNumber;
  }
}

// DTrace's "gc-begin" is "gc__begin".
std::string with_underscores(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == '-') text += "__";
    else text += c;
  }
  return text;
}

}  // namespace

std::string_view to_string(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kFlag: return "flag";
    case ArgumentKind::kAddress: return "address";
    case ArgumentKind::kSymbol:
    case ArgumentKind::kText: return "string";
    default: return "number";
  }
}

ProbeDescription describe_probe(std::string_view provider, std::string_view name, std::size_t operands) {
  ProbeDescription description;
  std::size_t next = 0;
  if (const Row* row = find_row(provider, name)) {
    description.known = true;
    description.flag = row->flag;
    for (const std::string_view part : split(row->arguments, ' ')) {
      if (part.empty()) continue;
      const std::size_t colon = part.find(':');
      ProbeArgument argument{std::string(part.substr(0, colon)),
                             colon == std::string_view::npos ? ArgumentKind::kNumber : kind_of(part[colon + 1]), next};
      const std::size_t width = argument.is_text() ? 2 : 1;
      if (next + width > operands) break;
      next += width;
      description.arguments.push_back(std::move(argument));
    }
  }
  for (; next < operands; ++next)
    description.arguments.push_back({"arg" + std::to_string(next), ArgumentKind::kNumber, next});
  return description;
}

std::vector<Probe> group_probes(std::vector<ProbeSite> sites) {
  std::map<std::pair<std::string, std::string>, Probe> by_name;
  for (ProbeSite& site : sites) {
    Probe& probe = by_name[{site.provider, site.name}];
    if (probe.sites.empty()) {
      probe.provider = site.provider;
      probe.name = site.name;
      probe.description = describe_probe(site.provider, site.name, site.operands.size());
    }
    probe.sites.push_back(std::move(site));
  }
  std::vector<Probe> probes;
  for (auto& [key, probe] : by_name) probes.push_back(std::move(probe));
  return probes;
}

Result<std::vector<const Probe*>> select_probes(const std::vector<Probe>& probes, std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::string_view provider = colon == std::string_view::npos ? "" : word.substr(0, colon);
  const std::string name = with_underscores(colon == std::string_view::npos ? word : word.substr(colon + 1));
  std::vector<const Probe*> own, others;
  for (const Probe& probe : probes) {
    if (colon != std::string_view::npos) {
      if (matches_pattern(provider, probe.provider) && matches_pattern(name.empty() ? "*" : name, probe.name))
        own.push_back(&probe);
      continue;
    }
    if (probe.provider == word) own.push_back(&probe);
    else if (matches_pattern(name, probe.name)) (probe.provider == "hotspot" ? own : others).push_back(&probe);
  }
  if (own.empty()) own = std::move(others);
  if (!own.empty()) return own;
  std::vector<std::string_view> candidates;
  for (const Probe& probe : probes) candidates.push_back(probe.name);
  const std::string_view nearest = nearest_word(name, candidates);
  return fail(ErrorCategory::kUsage, "this libjvm has no probe '" + std::string(word) + "'",
              nearest.empty() ? "jtrace probes lists them" : "the nearest is " + std::string(nearest));
}

}  // namespace jtrace::dtrace
