// The rule about pools whose threads all stand still while tasks wait in their queue, whatever they wait for: an answer
// from outside, a connection, a permit. Pools whose threads wait for locks or tasks are those of other rules.
#include <algorithm>
#include <map>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/deadlock_words.h"
#include "diagnose/duration.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr std::uint64_t kLong = 10'000'000'000;  // ns: a task may well wait for a second or two
constexpr std::size_t kPlacesShown = 4;

// By the place at which they stand, those of the last look.
using Places = std::map<std::string, std::vector<const ThreadFact*>>;

// What another rule tells: it waits for a lock that a thread has, or for what a thread has to do.
bool is_told_elsewhere(const ThreadFact& thread) {
  if (!thread.wait) return false;
  const WaitFact& wait = *thread.wait;
  return wait.blocks() || wait.kind == "queued" || wait.kind == "task" || wait.kind == "end";
}

bool has_queue(const ThreadsLook& look, const std::vector<ThreadKey>& threads) {
  const PoolFact* pool = pool_with(look, threads);
  return pool != nullptr && pool->queued.value_or(0) > 0;
}

// Each of them has a task, and was in one wait from the first look to the last.
bool stand_still(const Facts& facts, const PoolFact& pool) {
  const std::uint64_t of_stops = waits_of_stops(facts);
  return std::all_of(pool.threads.begin(), pool.threads.end(), [&](ThreadKey key) {
    const ThreadFact *then = facts.looks.front().find(key), *now = facts.looks.back().find(key);
    return then && now && then->frames == now->frames && !(now->wait && now->wait->without_task) &&
           sleep_of(facts, key, of_stops) != Sleep::kNo;
  });
}

Places places_of(const ThreadsLook& look, const PoolFact& pool) {
  Places places;
  for (const ThreadKey key : pool.threads)
    if (const ThreadFact* each = look.find(key)) places[own_place(each->frames)].push_back(each);
  return places;
}

// '8 of them at acme.Pool.borrow(Pool.java:9): "request-1", ...; "request-1" #12 is waiting on ...'
void add_places(const Places& places, std::vector<std::string>& evidence) {
  std::vector<const Places::value_type*> largest;
  for (const auto& each : places) largest.push_back(&each);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto* one, const auto* other) { return one->second.size() > other->second.size(); });
  for (std::size_t i = 0; i < std::min(largest.size(), kPlacesShown); ++i) {
    const auto& threads = largest[i]->second;
    std::vector<std::string> names;
    for (const ThreadFact* each : threads) names.push_back(each->name);
    const std::string first = doing(*threads.front());
    evidence.push_back(threads.size() == 1 ? first : some_of(names) + ": " + first);
  }
  if (largest.size() > kPlacesShown) evidence.push_back("and " + counted(largest.size() - kPlacesShown, "other place"));
}

// "the pool <0x40> has 41 tasks in its queue, 5 more than 2.1 s before".
std::string queue_words(const Facts& facts, const PoolFact& pool) {
  std::string text = tasks_of(pool);
  const ThreadsLook& first = facts.looks.front();
  const PoolFact* then = pool_with(first, pool.threads);
  if (then == nullptr || !then->queued || *then->queued >= *pool.queued) return text;
  return text + ", " + std::to_string(*pool.queued - *then->queued) + " more than " +
         time_between(first, facts.looks.back()) + " before";
}

Finding stuck(const Facts& facts, const PoolFact& pool) {
  const ThreadsLook& look = facts.looks.back();
  const std::string name = name_of(look, pool);
  const std::uint64_t lasted = least_duration(facts, 0, pool.threads);
  Finding finding{.rule = "pool-stuck",
                  .confidence = lasted >= kLong ? Confidence::kLikely : Confidence::kHint,
                  .next = "jtrace stack " + facts.target + " --java " +
                          (name.empty() ? "--group" : "--locals --thread " + shell_word(name))};
  finding.sentence = all_of(look, pool) + (pool.threads.size() == 1 ? " waits" : " wait") + " in a task, and " +
                     counted(*pool.queued, "task") + " " + (*pool.queued == 1 ? "waits" : "wait") + " in its queue.";
  finding.sentence.front() = finding.sentence.front() == 'a' ? 'A' : 'T';
  add_places(places_of(look, pool), finding.evidence);
  finding.evidence.push_back(queue_words(facts, pool));
  finding.evidence.push_back("none of them has gone on for at least " + lasted_words(facts, lasted));
  if (pool.may_grow) finding.evidence.emplace_back("the pool may start more threads, but only when its queue is full");
  return finding;
}

}  // namespace

void find_stuck_pools(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 2 || stands_still(facts)) return;
  const ThreadsLook& last = facts.looks.back();
  for (const PoolFact& each : last.pools) {
    if (each.threads.empty() || each.queued.value_or(0) == 0 || each.is_scheduled) continue;
    const auto told = std::count_if(each.threads.begin(), each.threads.end(), [&](ThreadKey key) {
      const ThreadFact* thread = last.find(key);
      return thread != nullptr && is_told_elsewhere(*thread);
    });
    if (2 * static_cast<std::size_t>(told) >= each.threads.size()) continue;
    const bool always = std::all_of(facts.looks.begin(), facts.looks.end(),
                                    [&](const ThreadsLook& look) { return has_queue(look, each.threads); });
    if (always && stand_still(facts, each)) found.push_back(stuck(facts, each));
  }
}

}  // namespace jtrace::diagnose
