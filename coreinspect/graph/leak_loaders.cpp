// Class loaders of one kind that have the same classes: each is an application that was loaded again.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/graph/leak_rules.h"
namespace jtrace::coreinspect {
namespace {

constexpr double kAlike = 0.9;  // of the names of a loader's classes
constexpr std::size_t kNames = 3;

struct LoaderKind {
  std::map<std::uint32_t, std::vector<std::string>> classes;  // by loader
  std::map<std::string, std::uint64_t> of_name;               // loaders with a class of this name
};

// By the class of the loader.
std::map<std::uint32_t, LoaderKind> loaders_of(const LeakSearch& search) {
  std::map<std::uint32_t, LoaderKind> kinds;
  const ObjectGraph& graph = search.graph;
  for (std::uint32_t i = 0; i < graph.classes().size(); ++i) {
    const HprofClass* const record = graph.class_record(i);
    const std::uint32_t loader = record == nullptr || record->loader == 0 ? kNoObject : graph.find(record->loader);
    if (loader == kNoObject || graph.is_class(loader) || graph.strength(loader) > Strength::kSoft) continue;
    LoaderKind& kind = kinds[graph.class_of(loader)];
    kind.classes[loader].push_back(graph.classes()[i].name);
    ++kind.of_name[graph.classes()[i].name];
  }
  return kinds;
}

std::vector<std::uint32_t> alike(const LoaderKind& kind, std::uint64_t least) {
  std::vector<std::uint32_t> found;
  for (const auto& [loader, names] : kind.classes) {
    const auto same = std::count_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return kind.of_name.at(name) >= least; });
    if (static_cast<double>(same) >= kAlike * static_cast<double>(names.size())) found.push_back(loader);
  }
  return found;
}

std::string some_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(kNames, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

}  // namespace

void find_loader_leaks(LeakSearch& search) {
  std::size_t count = 0, most = 0;
  for (const auto& [kind, loaders] : loaders_of(search)) {
    count += loaders.classes.size();
    const auto members = alike(loaders, search.limits.loaders);
    for (const auto& [name, with] : loaders.of_name) most = std::max<std::size_t>(most, with);
    if (members.size() < search.limits.loaders) continue;
    const std::string& name = search.graph.classes()[kind].name;
    LeakSuspect suspect{.kind = "class loaders", .of = name, .entries = members.size()};
    suspect.retained = search.retained_by(members);
    HolderCounts holders(search.held);
    for (const std::uint32_t loader : some_of(members, kMostWays)) holders.add(loader);
    suspect.holder = holders.first();
    suspect.sentence = std::to_string(members.size()) + " class loaders " + name + " have the same classes and keep " +
                       search.part(suspect.retained);
    const auto& names = loaders.classes.at(members.front());
    suspect.evidence.push_back("the first one has " + std::to_string(names.size()) +
                               (names.size() == 1 ? " class: " : " classes, such as ") + some_names(names));
    for (std::string& line : holders.sentences(kNames)) suspect.evidence.push_back(std::move(line));
    suspect.evidence.push_back("the way to one of them: " + search.held.path(members.front()));
    search.report.suspects.push_back(std::move(suspect));
  }
  search.report.looked_at.push_back(
      std::to_string(count) + (count == 1 ? " class loader has classes" : " class loaders have classes") +
      ", at most " + std::to_string(most) + " of the same kind with a class of the same name");
}

}  // namespace jtrace::coreinspect
