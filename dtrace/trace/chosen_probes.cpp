#include "dtrace/trace/chosen_probes.h"

#include <algorithm>
#include <string_view>

#include "dtrace/launch.h"

namespace jtrace::dtrace {
namespace {

constexpr std::string_view kDefaultProbes[] = {"thread__start",
                                               "thread__stop",
                                               "class__loaded",
                                               "class__unloaded",
                                               "gc__begin",
                                               "gc__end",
                                               "vm__init__end",
                                               "vm__shutdown",
                                               "monitor__wait",
                                               "monitor__waited",
                                               "monitor__contended__enter",
                                               "monitor__contended__entered"};

void add(OffProbes& off, const Probe& probe) {
  ++off.count;
  off.names += (off.names.empty() ? "" : ", ") + probe.name;
  const std::string flag(probe.description.flag);
  if (std::find(off.flags.begin(), off.flags.end(), flag) != off.flags.end()) return;
  off.flags.push_back(flag);
  off.options += (off.options.empty() ? "-XX:+" : " -XX:+") + flag;
}

}  // namespace

Result<std::vector<const Probe*>> choose_probes(const Libjvm& libjvm, const std::vector<std::string>& words) {
  if (libjvm.probes.empty()) return fail(no_probes(libjvm));
  std::vector<const Probe*> chosen;
  std::vector<std::string> wanted(words);
  if (words.empty()) wanted.assign(std::begin(kDefaultProbes), std::end(kDefaultProbes));
  for (const std::string& word : wanted) {
    JTRACE_ASSIGN_OR_RETURN(const auto some, select_probes(libjvm.probes, word));
    for (const Probe* probe : some)
      if (std::find(chosen.begin(), chosen.end(), probe) == chosen.end()) chosen.push_back(probe);
  }
  return chosen;
}

OffProbes off_in(const Libjvm& libjvm, const std::vector<const Probe*>& chosen) {
  OffProbes off;
  for (const Probe* probe : chosen)
    if (!libjvm.enabled(*probe).value_or(true)) add(off, *probe);
  return off;
}

OffProbes off_in(const std::vector<std::string>& command, const std::vector<const Probe*>& chosen) {
  OffProbes off;
  for (const Probe* probe : chosen) {
    const std::string_view flag = probe->description.flag;
    if (!flag.empty() && !switches_on(command, flag) && !switches_on(command, "ExtendedDTraceProbes")) add(off, *probe);
  }
  return off;
}

std::vector<std::string> flags_to_hold(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                       const std::vector<std::string>& off) {
  std::vector<std::string> flags(off);
  for (const Probe* probe : chosen) {
    const std::string flag(probe->description.flag);
    const bool is_new = std::find(flags.begin(), flags.end(), flag) == flags.end();
    if (is_new && libjvm.enabled(*probe).value_or(false) && libjvm.flags.contains(flag)) flags.push_back(flag);
  }
  return flags;
}

Result<std::vector<TracedSite>> choose_sites(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                             bool count_methods, bool stacks) {
  auto sites = sites_to_trace(libjvm.probes, chosen, count_methods, stacks);
  if (stacks && std::none_of(sites.begin(), sites.end(), [](const auto& site) { return site.copies_stack; }))
    return fail(ErrorCategory::kUsage, "--stack is for rare probes, and method probes are not rare",
                "methodEntry and methodExit show the stack already");
  return sites;
}

}  // namespace jtrace::dtrace
