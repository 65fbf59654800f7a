// Class loaders of one kind that have the same classes: each is an application that was loaded again. What holds the
// loader, one of its classes, or an object of these, holds all of them.
#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "coreinspect/graph/leak_rules.h"
namespace jtrace::coreinspect {
namespace {

constexpr double kAlike = 0.9;  // of the names of a loader's classes
constexpr std::size_t kNames = 3, kHolders = 5;
constexpr std::uint64_t kMostSteps = 10'000'000;  // of all ways together

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

// Some loaders, each with its classes and their objects.
class LoaderSets {
 public:
  LoaderSets(const LeakSearch& search, const std::vector<std::uint32_t>& loaders)
      : search_(search), graph_(search.graph), of_class_(graph_.classes().size(), kNoObject) {
    for (std::uint32_t i = 0; i < loaders.size(); ++i) of_object_[loaders[i]] = i;
    for (std::uint32_t i = 0; i < of_class_.size(); ++i) {
      const HprofClass* const record = graph_.class_record(i);
      const std::uint32_t loader = record == nullptr || record->loader == 0 ? kNoObject : graph_.find(record->loader);
      const auto known = loader == kNoObject ? of_object_.end() : of_object_.find(loader);
      if (known == of_object_.end()) continue;
      of_class_[i] = known->second;
      of_object_[graph_.classes()[i].object] = known->second;
    }
  }

  // As retained --by loader has it of one loader, of all together.
  std::uint64_t retained() const {
    std::vector<std::uint32_t> of_class = of_class_;
    for (std::uint32_t& each : of_class) each = each == kNoObject ? kNoObject : 0;
    std::unordered_map<std::uint32_t, std::uint32_t> of_object = of_object_;
    for (auto& [object, number] : of_object) number = 0;
    return search_.tree.by_group(of_class, of_object, 1).front().retained;
  }
  // What holds them: of each loader itself, of each of its classes, and of the objects of each, the first one whose way
  // does not lead through another object of the same set. At most so many of each set.
  void add_holders(std::size_t most, HolderCounts& counts) {
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> ways;
    std::map<std::uint32_t, std::size_t> of_set;
    for (std::uint32_t object = 0; object < graph_.size(); ++object) {
      const std::uint32_t set = set_of(object);
      if (set == kNoObject || graph_.strength(object) > Strength::kSoft || of_set[set] >= most) continue;
      const auto key = std::pair(set, through(object));
      if (ways.contains(key) || !comes_from_outside(object, set)) continue;
      ways[key] = object;
      ++of_set[set];
    }
    for (const auto& [key, object] : ways) counts.add(object, key.second);
  }

 private:
  std::uint32_t set_of(std::uint32_t object) const {
    const std::uint32_t of_class = of_class_[graph_.class_of(object)];
    if (of_class != kNoObject && !graph_.is_class(object)) return of_class;
    const auto own = of_object_.find(object);
    return own == of_object_.end() ? kNoObject : own->second;
  }
  std::string through(std::uint32_t object) const {
    if (graph_.is_class(object)) return graph_.name(object);
    return of_class_[graph_.class_of(object)] == kNoObject ? "" : "an object of " + graph_.name(object);
  }
  bool comes_from_outside(std::uint32_t object, std::uint32_t set) {
    while (steps_ < kMostSteps) {
      const std::uint32_t before = search_.paths.before(object);
      if (before == kNoObject) return false;
      if (before == object) return true;
      if (set_of(before) == set) return false;
      object = before;
      ++steps_;
    }
    return false;
  }

  const LeakSearch& search_;
  const ObjectGraph& graph_;
  std::vector<std::uint32_t> of_class_;  // the number of the loader, of the class's instances
  std::unordered_map<std::uint32_t, std::uint32_t> of_object_;
  std::uint64_t steps_ = 0;
};

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
    suspect.retained = LoaderSets(search, members).retained();
    HolderCounts holders(search.held);
    const auto some = some_of(members, kMostWays);
    LoaderSets(search, some).add_holders(std::max<std::size_t>(1, kMostWays / some.size()), holders);
    suspect.holder = holders.first();
    suspect.sentence = std::to_string(members.size()) + " class loaders " + name + " have the same classes and keep " +
                       search.part(suspect.retained) + " with them and their objects";
    const auto& names = loaders.classes.at(members.front());
    suspect.evidence.push_back("the first one has " + std::to_string(names.size()) +
                               (names.size() == 1 ? " class: " : " classes, such as ") + some_names(names));
    for (std::string& line : holders.sentences(kHolders)) suspect.evidence.push_back(std::move(line));
    if (const std::uint32_t one = holders.first_object(); one != kNoObject)
      suspect.evidence.push_back("the way to one of them: " + search.held.path(one));
    search.report.suspects.push_back(std::move(suspect));
  }
  search.report.looked_at.push_back(
      std::to_string(count) + (count == 1 ? " class loader has classes" : " class loaders have classes") +
      ", at most " + std::to_string(most) + " of the same kind with a class of the same name");
}

}  // namespace jtrace::coreinspect
