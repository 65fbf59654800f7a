// Many instances of a class that no single object keeps, or no single field of the object that does.
#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/graph/leak_rules.h"

namespace jtrace::coreinspect {
namespace {

struct Group {
  std::vector<std::uint32_t> objects;
  std::uint64_t bytes = 0;
};

// By class number: what an object dominates directly, without the classes, and without what is large by itself.
std::map<std::uint32_t, Group> groups_below(const LeakSearch& search, std::uint32_t above) {
  std::map<std::uint32_t, Group> groups;
  for (const std::uint32_t object : search.tree.dominated(above)) {
    if (search.graph.is_class(object) || search.tree.retained(object) >= search.much) continue;
    Group& group = groups[search.graph.class_of(object)];
    group.objects.push_back(object);
    group.bytes += search.tree.retained(object);
  }
  std::erase_if(groups, [&](const auto& each) {
    return each.second.bytes < search.much || each.second.objects.size() < search.limits.entries;
  });
  return groups;
}

// References in a queue are a suspect of their own, to which this is added.
bool are_queued(LeakSearch& search, const std::string& name, const Group& group, const SharedHolders& holders) {
  for (LeakSuspect& each : search.report.suspects) {
    if (each.kind != "reference queue" || each.of != name || each.entries < group.objects.size() / 2) continue;
    for (const auto& [field, count] : holders.fields)
      if (field != each.holder)
        each.evidence.push_back(std::to_string(count) + " of " + name + (count == 1 ? " is" : " are") + " held by " +
                                field + " too");
    return true;
  }
  return false;
}

void add_group(LeakSearch& search, const std::string& name, const Group& group, const SharedHolders& holders,
               const std::string& nobody) {
  if (are_queued(search, name, group, holders)) return;
  LeakSuspect suspect{.kind = "many alike", .of = name, .retained = group.bytes, .entries = group.objects.size()};
  suspect.holder = holders.text();
  suspect.sentence = std::to_string(group.objects.size()) + " " + name + ", held by " + suspect.holder + ", keep " +
                     search.part(group.bytes) + ", and " + nobody + " keeps them alone";
  suspect.evidence = holders.sentences();
  suspect.evidence.push_back("the way to one of them: " + search.held.path(group.objects.front()));
  search.report.suspects.push_back(std::move(suspect));
}

SharedHolders holders_of(const LeakSearch& search, const Group& group, std::uint32_t above) {
  return shared_holders(search.tree, search.paths, search.held, group.objects, above);
}

}  // namespace

void find_groups(LeakSearch& search) {
  for (const auto& [number, group] : groups_below(search, kNoObject)) {
    const std::string& name = search.graph.classes()[number].name;
    if (is_class_of_the_jdk(name)) continue;  // those are shared for good reasons
    add_group(search, name, group, holders_of(search, group, kNoObject), "no single object");
  }
}

bool find_groups_below(LeakSearch& search, std::uint32_t object) {
  bool any = false;
  for (const auto& [number, group] : groups_below(search, object)) {
    const SharedHolders holders = holders_of(search, group, object);
    if (holders.fields.empty() || holders.direct > group.objects.size() / 2) continue;
    add_group(search, search.graph.classes()[number].name, group, holders, "no single field");
    any = true;
  }
  return any;
}

}  // namespace jtrace::coreinspect
