// The rule about deadlocks through the queue of a pool: who waits for a task in it has what all threads of the pool
// wait for. Pools that wait for themselves alone are in rules_tasks.cpp.
#include <algorithm>
#include <set>

#include "base/strings.h"
#include "diagnose/deadlock_words.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

using Keys = std::set<ThreadKey>;

// Null: its threads are not known.
const PoolFact* pool_at(const ThreadsLook& look, std::uint64_t object) {
  const auto found =
      std::find_if(look.pools.begin(), look.pools.end(), [&](const PoolFact& each) { return each.object == object; });
  return found == look.pools.end() ? nullptr : &*found;
}

std::vector<const PoolFact*> pools_of(const ThreadsLook& look, const PoolCircleFact& circle) {
  std::vector<const PoolFact*> pools;
  for (const std::uint64_t object : circle.pools)
    if (const PoolFact* pool = pool_at(look, object)) pools.push_back(pool);
  return pools;
}

Keys threads_of(const ThreadsLook& look, const PoolCircleFact& circle) {
  Keys keys(circle.others.begin(), circle.others.end());
  for (const PoolFact* pool : pools_of(look, circle)) keys.insert(pool->threads.begin(), pool->threads.end());
  return keys;
}

// A collection may move the pools: the circle is known by its threads.
bool has_circle(const ThreadsLook& look, const Keys& threads) {
  return std::any_of(look.pool_circles.begin(), look.pool_circles.end(),
                     [&](const PoolCircleFact& each) { return threads_of(look, each) == threads; });
}

std::size_t looks_with(const Facts& facts, const Keys& threads) {
  const auto last = std::find_if(facts.looks.rbegin(), facts.looks.rend(),
                                 [&](const ThreadsLook& each) { return !has_circle(each, threads); });
  return static_cast<std::size_t>(last - facts.looks.rbegin());
}

std::string sentence_of(const ThreadsLook& look, const PoolCircleFact& circle) {
  std::vector<std::string> names, pools;
  for (const ThreadKey key : circle.others)
    if (const ThreadFact* each = look.find(key)) names.push_back(each->name);
  std::string text = "Deadlock: " + some_of(names);
  for (const PoolFact* pool : pools_of(look, circle))
    text += (text.ends_with(": ") ? "" : " and ") + all_of(look, *pool);
  return text + " wait for each other through the queue" +
         (circle.pools.size() == 1 ? " of this pool" : "s of these pools") + ", and none of them can go on.";
}

// What some of them wait for.
void add_waits(const ThreadsLook& look, const std::vector<ThreadKey>& threads, const char* of,
               std::vector<std::string>& evidence) {
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(threads.size(), kShown); ++i)
    if (const ThreadFact* each = look.find(threads[i])) evidence.push_back(doing(*each));
  if (threads.size() > kShown) evidence.push_back("and " + counted(threads.size() - kShown, "other") + of);
}

Finding deadlock(const Facts& facts, const PoolCircleFact& circle, const Keys& threads) {
  const ThreadsLook& look = facts.looks.back();
  Finding finding{.rule = "pool-deadlock",
                  .sentence = sentence_of(look, circle),
                  .next = "jtrace inspect " + facts.target + " locks"};
  add_waits(look, circle.others, "", finding.evidence);
  bool may_grow = false;
  for (const PoolFact* pool : pools_of(look, circle)) {
    if (pool->queued) finding.evidence.push_back(tasks_of(*pool));
    add_waits(look, pool->threads, " of this pool", finding.evidence);
    may_grow = may_grow || pool->may_grow;
  }
  if (may_grow) finding.evidence.emplace_back("a pool may start more threads, but only when its queue is full");
  for (std::string& each : extent_of(facts, threads, looks_with(facts, threads)))
    finding.evidence.push_back(std::move(each));
  const bool once = facts.live && facts.looks.size() == 1;
  finding.confidence = may_grow || once ? Confidence::kLikely : Confidence::kCertain;
  return finding;
}

}  // namespace

bool is_in_pool_circle(const ThreadsLook& look, ThreadKey key) {
  return std::any_of(look.pool_circles.begin(), look.pool_circles.end(),
                     [&](const PoolCircleFact& each) { return threads_of(look, each).contains(key); });
}

void find_pool_deadlocks(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty() || stands_still(facts)) return;
  for (const PoolCircleFact& each : facts.looks.back().pool_circles) {
    const Keys threads = threads_of(facts.looks.back(), each);
    if (facts.looks.size() > 1 && looks_with(facts, threads) < 2) continue;
    found.push_back(deadlock(facts, each, threads));
  }
}

}  // namespace jtrace::diagnose
