#include "sampling/wait_parties.h"

#include <algorithm>

#include "base/strings.h"
#include "sampling/share_text.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kShown = 3;

void add_to(WaitPartyCounts::ByName& names, const std::string& name, const WaitPartyCounts::Amount& amount) {
  if (name.empty()) return;
  WaitPartyCounts::Amount& sum = names[name];
  sum.times += amount.times;
  sum.ns += amount.ns;
}

}  // namespace

void WaitPartyCounts::add(const WaitParties& parties, std::uint64_t ns, const EarlierPart& earlier) {
  add_to(owners_, parties.owner, {.times = earlier.ns > 0 && earlier.owner == parties.owner ? 0u : 1u, .ns = ns});
  add_to(wakers_, parties.waker, {.times = 1, .ns = earlier.ns + ns});
}

void WaitPartyCounts::add(const WaitPartyCounts& other) {
  for (const auto& [name, amount] : other.owners_) add_to(owners_, name, amount);
  for (const auto& [name, amount] : other.wakers_) add_to(wakers_, name, amount);
}

std::vector<std::pair<std::string, WaitPartyCounts::Amount>> by_time(const WaitPartyCounts::ByName& names) {
  std::vector<std::pair<std::string, WaitPartyCounts::Amount>> sorted(names.begin(), names.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  return sorted;
}

std::string party_text(const WaitPartyCounts::ByName& names, std::uint64_t all) {
  std::string text;
  std::uint64_t rest = 0;
  const auto sorted = by_time(names);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, amount] = sorted[i];
    if (i >= kShown) rest += amount.ns;
    else text += (text.empty() ? "" : ", ") + printable(name) + share_text(amount.ns, all);
  }
  if (sorted.size() > kShown) text += ", " + std::to_string(sorted.size() - kShown) + " more" + share_text(rest, all);
  return text;
}

}  // namespace jtrace::sampling
