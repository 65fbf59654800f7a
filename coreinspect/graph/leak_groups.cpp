// Many instances of a class that no single object keeps.
#include <unordered_map>

#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/graph/leak_rules.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMembers = 1000;            // whose ways are looked at
constexpr std::uint64_t kMostSteps = 10'000'000;  // of all ways together
constexpr double kMost = 0.8;                     // of the members go through what they have in common

// The nearest object that the ways of most of them lead through; kNoObject if there is none.
std::uint32_t common_holder(const ShortestPaths& paths, const std::vector<std::uint32_t>& members) {
  std::unordered_map<std::uint32_t, std::size_t> through;
  std::uint64_t steps = 0;
  const auto climb = [&](std::uint32_t object, auto&& visit) {
    for (std::uint32_t next = paths.before(object); next != object && next != kNoObject; next = paths.before(object)) {
      object = next;
      if (++steps > kMostSteps || !visit(object)) return;
    }
  };
  for (const std::uint32_t member : members) climb(member, [&](std::uint32_t object) { return ++through[object] > 0; });
  const auto enough = static_cast<std::size_t>(kMost * static_cast<double>(members.size()));
  std::uint32_t common = kNoObject;
  for (const std::uint32_t member : members) {
    steps = 0;
    climb(member, [&](std::uint32_t object) {
      if (through[object] < enough) return true;
      common = object;
      return false;
    });
    if (common != kNoObject) break;
  }
  return common;
}

}  // namespace

void find_groups(LeakSearch& search) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_class;
  std::unordered_map<std::uint32_t, std::uint64_t> bytes;
  for (const std::uint32_t object : search.tree.dominated(kNoObject)) {
    if (search.graph.is_class(object) || search.tree.retained(object) >= search.much) continue;
    by_class[search.graph.class_of(object)].push_back(object);
    bytes[search.graph.class_of(object)] += search.tree.retained(object);
  }
  for (std::uint32_t i = 0; i < search.graph.classes().size(); ++i) {
    const auto found = by_class.find(i);
    const std::string& name = search.graph.classes()[i].name;
    if (found == by_class.end() || bytes[i] < search.much || found->second.size() < search.limits.entries ||
        is_class_of_the_jdk(name))  // those are shared for good reasons
      continue;
    const auto& objects = found->second;
    LeakSuspect suspect{.kind = "many alike", .of = name, .retained = bytes[i], .entries = objects.size()};
    const std::uint32_t common = common_holder(search.paths, some_of(objects, kMembers));
    suspect.holder = common == kNoObject ? "several" : search.held.holder(common);
    suspect.sentence = std::to_string(objects.size()) + " " + name + " keep " + search.part(bytes[i]) +
                       ", and no single object keeps them";
    if (common != kNoObject)
      suspect.evidence.push_back("the shortest ways to most of them lead through one " + search.graph.name(common) +
                                 ", held by " + suspect.holder);
    suspect.evidence.push_back("the way to one of them: " + search.held.path(objects.front()));
    search.report.suspects.push_back(std::move(suspect));
  }
}

}  // namespace jtrace::coreinspect
