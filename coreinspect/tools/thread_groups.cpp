#include "coreinspect/tools/thread_groups.h"

#include <algorithm>

#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

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
  if (found == groups_.end()) found = groups_.insert(found, {std::string(state), stack, &walk, {}});
  found->names.push_back(name);
  if (wait) found->add(*wait);
}

std::vector<const ThreadGroups::Group*> ThreadGroups::by_size() const {
  std::vector<const Group*> order;
  for (const Group& group : groups_) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(),
                   [](const Group* a, const Group* b) { return a->names.size() > b->names.size(); });
  return order;
}

std::string ThreadGroups::text() const {
  constexpr std::size_t kShownNames = 8;
  std::string out;
  for (const Group* group : by_size()) {
    const std::size_t count = group->names.size();
    out += std::to_string(count) + (count == 1 ? " thread" : " threads") +
           (group->state.empty() ? "" : " " + group->state) + ": ";
    for (std::size_t i = 0; i < std::min(count, kShownNames); ++i)
      out += (i == 0 ? "\"" : ", \"") + printable(group->names[i]) + "\"";
    if (count > kShownNames) out += " and " + std::to_string(count - kShownNames) + " more";
    out += "\n" + group->waits_text() + group->stack + "\n";
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
