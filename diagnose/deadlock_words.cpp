#include "diagnose/deadlock_words.h"

#include <algorithm>

#include "base/strings.h"
#include "coreinspect/tools/task_waits.h"
#include "diagnose/duration.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

using Keys = std::set<ThreadKey>;

// Whether all threads of the pool are among these.
bool has_all(const ThreadsLook& look, std::uint64_t pool, const Keys& keys) {
  return std::any_of(look.pools.begin(), look.pools.end(), [&](const PoolFact& each) {
    return each.object == pool && !each.threads.empty() &&
           std::all_of(each.threads.begin(), each.threads.end(), [&](ThreadKey key) { return keys.contains(key); });
  });
}

Keys stuck_at(const ThreadsLook& look, const Keys& circle) {
  Keys stuck = circle;
  const auto waits_for_stuck = [&](const WaitFact& wait) {
    if (wait.kind == "queued") return has_all(look, wait.object, stuck);
    return (wait.blocks() || wait.kind == "end" || wait.kind == "task") && stuck.contains(wait.owner);
  };
  for (std::size_t before = 0; before < stuck.size();) {
    before = stuck.size();
    for (const ThreadFact& each : look.threads)
      if (each.key != 0 && each.wait && !each.wait->owner_ended && each.state != "TIMED_WAITING" &&
          waits_for_stuck(*each.wait))
        stuck.insert(each.key);
  }
  for (const ThreadKey key : circle) stuck.erase(key);
  return stuck;
}

}  // namespace

Keys stuck_after(const Facts& facts, const Keys& circle, std::size_t looks) {
  const auto first = facts.looks.end() - static_cast<std::ptrdiff_t>(looks);
  Keys stuck = stuck_at(*first, circle);
  for (auto look = first + 1; look != facts.looks.end(); ++look) {
    const Keys now = stuck_at(*look, circle);
    std::erase_if(stuck, [&](ThreadKey key) { return !now.contains(key); });
  }
  return stuck;
}

std::string stuck_words(const Facts& facts, const Keys& stuck) {
  std::vector<std::string> names;
  for (const ThreadKey key : stuck) names.push_back(facts.looks.back().find(key)->name);
  return counted(names.size(), "other thread") + (names.size() == 1 ? " waits" : " wait") +
         " for these, and cannot go on either: " + some_of(names);
}

std::vector<std::string> extent_of(const Facts& facts, const Keys& circle, std::size_t looks) {
  std::vector<std::string> lines;
  if (const Keys stuck = stuck_after(facts, circle, looks); !stuck.empty()) lines.push_back(stuck_words(facts, stuck));
  const std::vector<ThreadKey> members(circle.begin(), circle.end());
  const std::uint64_t lasted = least_duration(facts, facts.looks.size() - looks, members);
  if (lasted != 0)
    lines.push_back((looks > 1 ? "the same circle at " + counted(looks, "look") + ": it" : std::string("it")) +
                    " has lasted for at least " + lasted_words(facts, lasted));
  return lines;
}

const PoolFact* pool_with(const ThreadsLook& look, const std::vector<ThreadKey>& threads) {
  const auto found = std::find_if(look.pools.begin(), look.pools.end(), [&](const PoolFact& each) {
    return std::is_permutation(each.threads.begin(), each.threads.end(), threads.begin(), threads.end());
  });
  return found == look.pools.end() ? nullptr : &*found;
}

std::string all_of(const ThreadsLook& look, const PoolFact& pool) {
  const std::string name = name_of(look, pool);
  return (pool.threads.size() == 1 ? "the only thread of "
                                   : "all " + std::to_string(pool.threads.size()) + " threads of ") +
         (name.empty() ? "a pool" : "the pool " + quoted(name));
}

std::string name_of(const ThreadsLook& look, const PoolFact& pool) {
  std::vector<std::string> names;
  for (const ThreadKey key : pool.threads)
    if (const ThreadFact* each = look.find(key)) names.push_back(each->name);
  return coreinspect::pool_name(names);
}

std::string tasks_of(const PoolFact& pool) {
  std::string line = "the pool <";
  append_hex(line, pool.object);
  return line + "> has " + counted(pool.queued.value_or(0), "task") + " in its queue";
}

}  // namespace jtrace::diagnose
