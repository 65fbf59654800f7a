#include "coreinspect/tools/thread_groups.h"

#include <algorithm>

#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

void ThreadGroups::add(const std::string& name, std::string_view state, const std::string& stack, const Walk& walk) {
  const auto same = [&](const Group& group) { return group.state == state && group.stack == stack; };
  auto found = std::find_if(groups_.begin(), groups_.end(), same);
  if (found == groups_.end()) found = groups_.insert(found, {std::string(state), stack, &walk, {}});
  found->names.push_back(name);
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
    out += "\n" + group->stack + "\n";
  }
  return out;
}

void ThreadGroups::write(JsonWriter& json, const std::function<void(JsonWriter&, const Walk&)>& write_frames) const {
  for (const Group* group : by_size()) {
    json.begin_object().member("count", group->names.size()).member("state", group->state);
    json.key("threads").begin_array();
    for (const std::string& name : group->names) json.value(name);
    json.end_array();
    json.key("frames");
    write_frames(json, *group->walk);
    json.end_object();
  }
}

}  // namespace jtrace::coreinspect
