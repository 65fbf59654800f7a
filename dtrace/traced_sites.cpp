#include "dtrace/traced_sites.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace jtrace::dtrace {
namespace {

bool has_symbols(const Probe& probe) {
  const auto& arguments = probe.description.arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const ProbeArgument& argument) { return argument.kind == ArgumentKind::kSymbol; });
}

}  // namespace

std::vector<TracedSite> sites_to_trace(const std::vector<Probe>& all, const std::vector<const Probe*>& chosen,
                                       bool count_methods, bool stacks) {
  std::vector<TracedSite> sites;
  const auto is_chosen = [&](std::string_view name) {
    return std::any_of(chosen.begin(), chosen.end(),
                       [&](const Probe* probe) { return probe->provider == "hotspot" && probe->name == name; });
  };
  const auto add = [&](const Probe& probe, bool records, bool by_user) {
    const bool unloads = probe.provider == "hotspot" && probe.name == "class__unloaded";
    const bool entry = probe.provider == "hotspot" && probe.name == "method__entry";
    const bool left = probe.provider == "hotspot" && probe.name == "method__return";
    for (const ProbeSite& site : probe.sites) {
      // A fact that some site lacks is left out of the counts for all sites.
      const bool counts = count_methods && entry && site.operands.size() == 7;
      sites.push_back({&probe, &site, records && !(count_methods && left), unloads, by_user, counts,
                       stacks && by_user && !entry && !left});
    }
  };
  for (const Probe* probe : chosen) add(*probe, true, true);
  const auto help = [&](std::string_view name, bool needed, bool records) {
    if (!needed || is_chosen(name)) return;
    for (const Probe& probe : all)
      if (probe.provider == "hotspot" && probe.name == name) add(probe, records, false);
  };
  help("thread__start", true, true);
  help("thread__stop", true, true);
  help("class__unloaded", std::any_of(chosen.begin(), chosen.end(), [](const Probe* p) { return has_symbols(*p); }),
       false);
  help("mem__pool__gc__end", is_chosen("gc__end") || is_chosen("gc__begin"), true);
  help("gc__end", is_chosen("gc__begin"), true);
  help("gc__begin", is_chosen("gc__end"), true);
  const bool owners = is_chosen("monitor__contended__enter");
  for (const std::string_view name :
       {"monitor__contended__entered", "monitor__contended__exit", "monitor__wait", "monitor__waited"})
    help(name, owners, true);
  return sites;
}

std::vector<std::string> unreadable_operands(const std::vector<TracedSite>& sites) {
  std::vector<std::string> lines;
  for (const TracedSite& traced : sites) {
    if (!traced.chosen) continue;
    const auto& operands = traced.site->operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].kind != OperandKind::kUnknown && i < kMaxOperands) continue;
      char place[24];
      std::snprintf(place, sizeof place, "0x%llx", static_cast<unsigned long long>(traced.site->address));
      lines.push_back("operand " + std::to_string(i) + " of " + traced.probe->full_name() + " at " + place +
                      " cannot be read ('" + operands[i].text + "'): it counts as 0");
    }
  }
  return lines;
}

}  // namespace jtrace::dtrace
