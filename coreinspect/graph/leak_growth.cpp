#include "coreinspect/graph/leak_growth.h"

#include <algorithm>
#include <unordered_map>

namespace jtrace::coreinspect {
namespace {

bool gets_entries(const GrowingLeak& leak) { return leak.entries_per_second > 0; }

template <class Figure>
bool grows(const std::vector<LeakSize>& sizes, Figure&& figure) {
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i - 1].found() && figure(sizes[i]) <= figure(sizes[i - 1])) return false;
  return sizes.size() > 1;
}

// Whether it was too small to be found at first, and has been there since.
bool stays(const std::vector<LeakSize>& sizes) {
  const auto first = std::find_if(sizes.begin(), sizes.end(), [](const LeakSize& each) { return each.found(); });
  return sizes.end() - first >= 2 && std::all_of(first, sizes.end(), [](const LeakSize& each) { return each.found(); });
}

}  // namespace

void LeakGrowth::look(const HeapTree& tree, double seconds) {
  Look look{.seconds = seconds, .reachable = tree.reachable(), .seen = {}};
  LeakReport report = find_leaks(tree, kGrowthLimits);
  std::unordered_map<std::uint32_t, Key> key_of_object;
  for (const LeakSuspect& each : report.suspects)
    if (each.object != kNoObject) key_of_object.emplace(each.object, key_of(each));
  for (LeakSuspect& each : report.suspects) {
    std::vector<Key> above;
    for (std::uint32_t at = each.object; at != kNoObject; at = tree.dominator(at))
      if (const auto found = key_of_object.find(at); at != each.object && found != key_of_object.end())
        above.push_back(found->second);
    const Key key = key_of(each);
    const auto [at, fresh] = look.seen.try_emplace(key);
    if (fresh) {
      const std::uint64_t retained = each.retained, entries = each.entries;
      at->second = {std::move(each), std::move(above), 1, retained, entries};
      continue;
    }
    ++at->second.suspects;
    at->second.retained += each.retained;
    at->second.entries += each.entries;
  }
  looks_.push_back(std::move(look));
}

GrowingLeak LeakGrowth::grown(const Key& key, const Seen& last) const {
  GrowingLeak leak{.suspect = last.suspect};
  for (const Look& look : looks_) {
    const auto found = look.seen.find(key);
    LeakSize size{.seconds = look.seconds};
    if (found != look.seen.end())
      size = {look.seconds, found->second.retained, found->second.entries, found->second.suspects};
    leak.sizes.push_back(size);
  }
  const auto first =
      std::find_if(leak.sizes.begin(), leak.sizes.end(), [](const LeakSize& each) { return each.found(); });
  const LeakSize& end = leak.sizes.back();
  if (const double time = end.seconds - first->seconds; time > 0) {
    leak.bytes_per_second = (static_cast<double>(end.retained) - static_cast<double>(first->retained)) / time;
    leak.entries_per_second = (static_cast<double>(end.entries) - static_cast<double>(first->entries)) / time;
  }
  const bool entries_grow = grows(leak.sizes, [](const LeakSize& each) { return each.entries; });
  const bool bytes_grow = grows(leak.sizes, [](const LeakSize& each) { return each.retained; });
  leak.grew_each_time =
      stays(leak.sizes) && leak.bytes_per_second > 0 && (entries_grow || (bytes_grow && leak.entries_per_second >= 0));
  return leak;
}

bool LeakGrowth::is_part_of(const Key& key, const Key& other) const {
  const auto& above = looks_.back().seen.at(key).above;
  return std::find(above.begin(), above.end(), other) != above.end();
}

std::vector<GrowingLeak> LeakGrowth::result(const LeakLimits& limits) const {
  std::vector<GrowingLeak> growing, others;
  if (looks_.empty()) return growing;
  const Look& last = looks_.back();
  for (const auto& [key, seen] : last.seen) {
    GrowingLeak leak = grown(key, seen);
    const bool is_large = seen.suspect.kind == "direct buffers" ? seen.suspect.retained >= limits.direct
                                                                : seen.suspect.retained >= limits.of(last.reachable);
    if (leak.grew_each_time) growing.push_back(std::move(leak));
    else if (is_large) others.push_back(std::move(leak));
  }
  std::stable_sort(growing.begin(), growing.end(), [](const GrowingLeak& a, const GrowingLeak& b) {
    if (gets_entries(a) != gets_entries(b)) return gets_entries(a);
    return a.bytes_per_second > b.bytes_per_second;
  });
  std::vector<GrowingLeak> found;
  for (GrowingLeak& leak : growing) {
    const Key key = key_of(leak.suspect);
    const bool is_told = std::any_of(found.begin(), found.end(), [&](const GrowingLeak& each) {
      const Key other = key_of(each.suspect);
      return is_part_of(key, other) || (!gets_entries(leak) && is_part_of(other, key));
    });
    if (!is_told) found.push_back(std::move(leak));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const GrowingLeak& a, const GrowingLeak& b) { return a.bytes_per_second > b.bytes_per_second; });
  std::stable_sort(others.begin(), others.end(),
                   [](const GrowingLeak& a, const GrowingLeak& b) { return a.suspect.retained > b.suspect.retained; });
  found.insert(found.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return found;
}

}  // namespace jtrace::coreinspect
