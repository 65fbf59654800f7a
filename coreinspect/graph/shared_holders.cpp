#include "coreinspect/graph/shared_holders.h"

#include <algorithm>
#include <map>

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kNamed = 100;  // objects that hold some of them: for each a way is searched
constexpr std::size_t kShown = 3;

class Search {
 public:
  Search(const HeapTree& tree, const ShortestPaths& paths, const HeldBy& held, std::uint32_t above)
      : tree_(tree), graph_(tree.graph()), paths_(paths), held_(held), above_(above), is_wanted_(graph_.size(), 0) {}

  SharedHolders of(const std::vector<std::uint32_t>& objects) {
    for (const std::uint32_t object : objects) is_wanted_[object] = 1;
    for (const std::uint32_t object : objects)
      if (above_ == kNoObject && paths_.before(object) == object) held_by_.emplace_back(object, object);  // a root
    for (std::uint32_t i = 0; i < graph_.size(); ++i)
      if (graph_.strength(i) != Strength::kGarbage) look_at(i);
    std::sort(held_by_.begin(), held_by_.end());
    held_by_.erase(std::unique(held_by_.begin(), held_by_.end()), held_by_.end());
    name_them();
    return std::move(found_);
  }

 private:
  void look_at(std::uint32_t from) {
    const auto edges = graph_.edges_of(from);
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      const std::uint32_t to = edges[i];
      if (to == kNoObject || is_wanted_[to] == 0) continue;
      if (from == above_) ++found_.direct;
      else if (is_wanted_[from] != 0) ++found_.mutual;
      else if (const std::uint32_t top = top_of(from); is_wanted_[top] == 0) held_by_.emplace_back(top, to);
      else ++found_.mutual;
    }
  }
  // The object directly below the one above all that keeps this one: itself, or one that dominates it.
  std::uint32_t top_of(std::uint32_t object) {
    way_.clear();
    std::uint32_t top = object;
    while (true) {
      if (const auto known = tops_.find(top); known != tops_.end()) {
        top = known->second;
        break;
      }
      way_.push_back(top);
      const std::uint32_t next = tree_.dominator(top);
      if (next == above_ || next == kNoObject) break;
      top = next;
    }
    for (const std::uint32_t each : way_) tops_[each] = top;
    return top;
  }
  void name_them() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> tops;  // objects, who holds them
    for (const auto& [top, object] : held_by_) {
      if (tops.empty() || tops.back().second != top) tops.emplace_back(0, top);
      ++tops.back().first;
    }
    std::stable_sort(tops.begin(), tops.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    found_.more = tops.size() > kNamed;
    if (found_.more) tops.resize(kNamed);
    // An object may be held by several in the same field: a map and the list of its entries.
    std::map<std::string, std::vector<std::uint32_t>> names;
    for (const auto& [count, top] : tops) {
      std::vector<std::uint32_t>& objects = names[held_.below(above_, top)];
      for (auto at = std::lower_bound(held_by_.begin(), held_by_.end(), std::pair(top, 0u));
           at != held_by_.end() && at->first == top; ++at)
        objects.push_back(at->second);
    }
    for (auto& [name, objects] : names) {
      std::sort(objects.begin(), objects.end());
      const auto end = std::unique(objects.begin(), objects.end());
      found_.fields.emplace_back(name, static_cast<std::uint64_t>(end - objects.begin()));
    }
    std::stable_sort(found_.fields.begin(), found_.fields.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  const HeapTree& tree_;
  const ObjectGraph& graph_;
  const ShortestPaths& paths_;
  const HeldBy& held_;
  const std::uint32_t above_;
  std::vector<char> is_wanted_;
  std::unordered_map<std::uint32_t, std::uint32_t> tops_;
  std::vector<std::uint32_t> way_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held_by_;  // top, object
  SharedHolders found_;
};

}  // namespace

std::string SharedHolders::text() const {
  if (fields.empty()) return "several";
  const std::size_t shown = fields.size() > kShown ? kShown - 1 : fields.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == fields.size() ? " and " : ", ") + fields[i].first;
  if (shown < fields.size()) text += " and " + std::to_string(fields.size() - shown) + " others";
  return text;
}

std::vector<std::string> SharedHolders::sentences() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kShown, fields.size()); ++i)
    lines.push_back((more ? "at least " : "") + std::to_string(fields[i].second) +
                    (fields[i].second == 1 ? " of them is held by " : " of them are held by ") + fields[i].first);
  if (mutual > 0) lines.push_back("some of them refer to each other");
  return lines;
}

SharedHolders shared_holders(const HeapTree& tree, const ShortestPaths& paths, const HeldBy& held,
                             const std::vector<std::uint32_t>& objects, std::uint32_t above) {
  return Search(tree, paths, held, above).of(objects);
}

}  // namespace jtrace::coreinspect
