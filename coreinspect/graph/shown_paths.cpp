#include "coreinspect/graph/shown_paths.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMostWalked = 50'000'000;  // steps upwards: paths may be as long as there are objects

}  // namespace

std::string ShownPaths::edge(std::uint32_t from, std::uint32_t to) const {
  if (const auto known = known_.find(key(from, to)); known != known_.end()) return known->second;
  const std::uint32_t found = graph_.find_edge(from, to);
  return found == kNoObject ? "" : graph_.edge_name(from, found);
}

std::uint32_t ShownPaths::add(std::uint32_t before, std::uint32_t object) {
  const auto place = static_cast<std::uint32_t>(steps_.size());
  const std::uint32_t over = paths_.before(object);
  std::string name = over == object ? paths_.root_name(object) : edge(over, object);
  steps_.push_back({.before = before, .object = object, .edge = std::move(name)});
  places_.emplace(object, place);
  return place;
}

std::uint32_t ShownPaths::step_of(std::uint32_t object) {
  if (paths_.before(object) == kNoObject || steps_.size() >= kMostSteps) return kNoObject;
  std::vector<std::uint32_t> way;  // from the object up to what is a step already, or to the root
  for (;; object = paths_.before(object)) {
    if (places_.contains(object)) break;
    if (++walked_ > kMostWalked) return kNoObject;
    way.push_back(object);
    if (paths_.before(object) == object) break;
  }
  const auto known = places_.find(object);
  std::uint32_t before = known == places_.end() ? kNoObject : known->second;
  const bool is_long = way.size() > kLongPath;
  for (std::size_t i = way.size(); i > 0; --i) {
    if (is_long && i == way.size() - kPathEnd) {
      steps_.push_back({.before = before, .skipped = i - kPathEnd});
      before = static_cast<std::uint32_t>(steps_.size() - 1);
      i = kPathEnd;
    }
    before = add(before, way[i - 1]);
  }
  return before;
}

}  // namespace jtrace::coreinspect
