#include "coreinspect/tools/thread_groups.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/joined.h"
#include "base/strings.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

std::vector<std::string> quoted(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back("\"" + printable(name) + "\"");
  return out;
}

// "GC Thread#*" of "GC Thread#12".
std::string family_of(const std::string& name) {
  std::string family;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) family += c;
    else if (!family.ends_with('*')) family += '*';
  }
  return family;
}

// Names that differ only in numbers once, with how many there are; in the order in which they came.
std::vector<std::string> families(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const std::string& name : names) {
    const std::string family = family_of(name);
    auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == family; });
    if (found == all.end()) found = all.insert(found, {family, {}});
    found->second.push_back(name);
  }
  std::vector<std::string> out;
  for (const auto& [family, members] : all)
    out.push_back(members.size() == 1 ? quoted(members).front()
                                      : std::to_string(members.size()) + " \"" + printable(family) + "\"");
  return out;
}

}  // namespace

void ThreadGroups::Group::add(const Wait& wait) {
  const auto same = [&](const Waiting& each) {
    return each.wait->kind == wait.kind && each.wait->object == wait.object &&
           each.wait->owner_thread == wait.owner_thread;
  };
  const auto found = std::find_if(waits.begin(), waits.end(), same);
  if (found != waits.end()) ++found->count;
  else waits.push_back({&wait, 1});
}

std::string ThreadGroups::Group::waits_text() const {
  constexpr std::size_t kShownWaits = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(waits.size(), kShownWaits); ++i) {
    out += "    - ";
    if (waits[i].count < names.size()) out += std::to_string(waits[i].count) + " of them: ";
    out += describe(*waits[i].wait) + "\n";
  }
  if (waits.size() > kShownWaits)
    out += "    - and for " + std::to_string(waits.size() - kShownWaits) + " more: --format json has all\n";
  return out;
}

void ThreadGroups::add(const std::string& name, std::string_view state, const std::string& stack, const Walk& walk,
                       const Wait* wait) {
  const auto same = [&](const Group& group) { return group.state == state && group.stack == stack; };
  auto found = std::find_if(groups_.begin(), groups_.end(), same);
  if (found == groups_.end()) found = groups_.insert(found, {std::string(state), stack, &walk, {}, {}});
  found->names.push_back(name);
  if (wait) found->add(*wait);
}

// Threads without frames have nothing in common: their names are all that tells what they are, so all are shown.
std::string ThreadGroups::Group::names_text() const {
  constexpr std::size_t kShownNames = 8;
  const std::vector<std::string> shown = stack.empty() ? families(names) : quoted(names);
  const std::size_t most = stack.empty() ? shown.size() : std::min(shown.size(), kShownNames);
  std::string out = joined(std::span(shown).first(most));
  if (shown.size() > most) out += " and " + std::to_string(shown.size() - most) + " more";
  return out;
}

std::vector<const ThreadGroups::Group*> ThreadGroups::by_size() const {
  std::vector<const Group*> order;
  for (const Group& group : groups_) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(),
                   [](const Group* a, const Group* b) { return a->names.size() > b->names.size(); });
  return order;
}

std::string ThreadGroups::text() const {
  std::string out;
  for (const Group* group : by_size()) {
    out += counted(group->names.size(), "thread") + (group->state.empty() ? "" : " " + group->state) +
           (group->stack.empty() ? " without frames: " : ": ") + group->names_text() + "\n" + group->waits_text() +
           group->stack + "\n";
  }
  return out;
}

void ThreadGroups::write(JsonWriter& json, const std::function<void(JsonWriter&, const Walk&)>& write_frames,
                         const std::function<void(JsonWriter&, const Wait&)>& write_wait) const {
  for (const Group* group : by_size()) {
    json.begin_object().member("count", group->names.size()).member("state", group->state);
    json.key("threads").begin_array();
    for (const std::string& name : group->names) json.value(name);
    json.end_array().key("waits").begin_array();
    for (const Waiting& each : group->waits) {
      json.begin_object().member("count", each.count);
      write_wait(json, *each.wait);
      json.end_object();
    }
    json.end_array();
    json.key("frames");
    write_frames(json, *group->walk);
    json.end_object();
  }
}

}  // namespace jtrace::coreinspect
