#include "coreinspect/graph/leak_report.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "coreinspect/graph/leak_rules.h"

namespace jtrace::coreinspect {

std::string LeakSearch::part(std::uint64_t bytes) const {
  char text[64];
  const auto all = static_cast<double>(std::max<std::uint64_t>(1, tree.reachable()));
  std::snprintf(text, sizeof text, "%.1f %% of the heap (%llu bytes)", 100 * static_cast<double>(bytes) / all,
                static_cast<unsigned long long>(bytes));
  return text;
}

std::vector<char> LeakSearch::classes_below(std::string_view name) const {
  std::vector<char> is_below(graph.classes().size(), 0);
  for (std::uint32_t i = 0; i < is_below.size(); ++i) is_below[i] = fields.is_a(i, name) ? 1 : 0;
  return is_below;
}

std::vector<std::uint32_t> LeakSearch::objects_of(const std::vector<char>& is_wanted) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < graph.size(); ++i)
    if (is_wanted[graph.class_of(i)] != 0 && !graph.is_class(i) && graph.strength(i) != Strength::kGarbage)
      found.push_back(i);
  return found;
}

// An object is below another where one of those that dominate it is. Looked up once for each: a long chain of them is
// as good as any.
std::uint64_t LeakSearch::retained_by(const std::vector<std::uint32_t>& objects) const {
  std::unordered_map<std::uint32_t, bool> is_below;  // one of them, or below one
  for (const std::uint32_t object : objects) is_below[object] = true;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> way;
  for (const std::uint32_t object : objects) {
    std::uint32_t above = tree.dominator(object);
    way.clear();
    for (; above != kNoObject && !is_below.contains(above); above = tree.dominator(above)) way.push_back(above);
    const bool below = above != kNoObject && is_below[above];
    for (const std::uint32_t each : way) is_below[each] = below;
    if (!below) bytes += tree.retained(object);
  }
  return bytes;
}

std::vector<std::uint32_t> some_of(const std::vector<std::uint32_t>& objects, std::size_t most) {
  if (objects.size() <= most) return objects;
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(objects[i * objects.size() / most]);
  return some;
}

void HolderCounts::add(std::uint32_t object, const std::string& through) {
  std::string holder = held_.holder(object);
  std::string example;
  if (const auto thread = holder.find("thread \""); thread != holder.npos) {
    example = holder.substr(thread);
    holder = holder.substr(0, thread) + "a thread";
  }
  Count& count = counts_[holder + (through.empty() ? "" : " through " + through)];
  if (++count.objects > 1) return;
  count.holder = holder;
  count.example = example;
  count.object = object;
}

std::vector<std::pair<std::string, HolderCounts::Count>> HolderCounts::sorted() const {
  std::vector<std::pair<std::string, Count>> all(counts_.begin(), counts_.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.objects > b.second.objects; });
  return all;
}

std::vector<std::string> HolderCounts::sentences(std::size_t most) const {
  std::vector<std::string> lines;
  for (const auto& [holder, count] : sorted()) {
    if (lines.size() == most) break;
    lines.push_back(std::to_string(count.objects) + (count.objects == 1 ? " is held by " : " are held by ") + holder +
                    (count.example.empty() ? "" : ", such as " + count.example));
  }
  return lines;
}

std::string HolderCounts::first() const { return counts_.empty() ? "" : sorted().front().second.holder; }

std::uint32_t HolderCounts::first_object() const {
  return counts_.empty() ? kNoObject : sorted().front().second.object;
}

LeakReport find_leaks(const HeapTree& tree, const LeakLimits& limits) {
  LeakSearch search(tree, limits);
  find_queues(search);
  find_accumulations(search);
  find_groups(search);
  find_loader_leaks(search);
  find_thread_locals(search);
  find_direct_buffers(search);
  auto& suspects = search.report.suspects;
  std::stable_sort(suspects.begin(), suspects.end(), [](const LeakSuspect& a, const LeakSuspect& b) {
    if (a.may_be_bounded != b.may_be_bounded) return b.may_be_bounded;
    return a.is_one_array != b.is_one_array ? b.is_one_array : a.retained > b.retained;
  });
  return std::move(search.report);
}

}  // namespace jtrace::coreinspect
