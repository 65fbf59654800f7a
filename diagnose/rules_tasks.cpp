// Rules about threads that wait for what other threads have to do. Circles of such waits are deadlocks
// (rules_locks.cpp).
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/deadlock_words.h"
#include "diagnose/duration.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

// The threads of a pool that cannot go on before a task in its own queue is run: those that wait for it, and those that
// wait for these.
std::set<ThreadKey> stuck_of(const ThreadsLook& look, const PoolFact& pool) {
  std::set<ThreadKey> stuck;
  const auto is_stuck = [&](const ThreadFact* each) {
    if (each == nullptr || !each->wait) return false;
    const WaitFact& wait = *each->wait;
    if (wait.kind == "queued") return wait.object == pool.object;
    return each->state != "TIMED_WAITING" && (wait.blocks() || wait.kind == "end" || wait.kind == "task") &&
           stuck.contains(wait.owner);
  };
  for (std::size_t before = 0, first = 1; first == 1 || stuck.size() > before; first = 0) {
    before = stuck.size();
    for (const ThreadKey key : pool.threads)
      if (is_stuck(look.find(key))) stuck.insert(key);
  }
  return stuck;
}

bool is_starved(const ThreadsLook& look, const PoolFact& pool) {
  return !pool.threads.empty() && stuck_of(look, pool).size() == pool.threads.size();
}

// Null: it is not there, or not starved.
const PoolFact* starved_pool(const ThreadsLook& look, const std::vector<ThreadKey>& threads) {
  const PoolFact* pool = pool_with(look, threads);
  return pool != nullptr && is_starved(look, *pool) ? pool : nullptr;
}

bool has_starved(const ThreadsLook& look, const std::vector<ThreadKey>& threads) {
  return starved_pool(look, threads) != nullptr;
}

// At how many looks, back from the last one, it is starved.
std::size_t looks_with(const Facts& facts, const PoolFact& pool) {
  const auto last = std::find_if(facts.looks.rbegin(), facts.looks.rend(),
                                 [&](const ThreadsLook& each) { return !has_starved(each, pool.threads); });
  return static_cast<std::size_t>(last - facts.looks.rbegin());
}

// Threads that give up waiting some time.
std::vector<ThreadKey> patient_of(const ThreadsLook& look, const PoolFact& pool) {
  std::vector<ThreadKey> patient;
  for (const ThreadKey key : pool.threads)
    if (const ThreadFact* each = look.find(key); each && each->state == "TIMED_WAITING") patient.push_back(key);
  return patient;
}

// With short time limits the pool works again in a moment: such a wait counts if it is one and the same for long.
bool wait_for_long(const Facts& facts, const PoolFact& pool, const std::vector<ThreadKey>& patient) {
  return looks_span(facts, kHeldLong) &&
         std::all_of(facts.looks.begin(), facts.looks.end(),
                     [&](const ThreadsLook& each) { return has_starved(each, pool.threads); }) &&
         std::all_of(patient.begin(), patient.end(), [&](ThreadKey key) { return slept_all_along(facts, key); });
}

// Whether a thread waits for a task that the pool has in its queue, or runs.
bool wants_of(const ThreadFact& thread, const PoolFact& pool) {
  if (!thread.wait) return false;
  const WaitFact& wait = *thread.wait;
  return (wait.kind == "queued" && wait.object == pool.object) ||
         (wait.kind == "task" && std::find(pool.threads.begin(), pool.threads.end(), wait.owner) != pool.threads.end());
}

// The threads outside of the pool that wait so at one of the looks at which it was starved. Those with a time limit
// give up some time and come again: a single look may miss them.
std::map<ThreadKey, const ThreadFact*> customers_of(const Facts& facts, const PoolFact& pool) {
  std::map<ThreadKey, const ThreadFact*> customers;
  for (const ThreadsLook& look : facts.looks) {
    const PoolFact* then = starved_pool(look, pool.threads);
    if (then == nullptr) continue;
    for (const ThreadFact& each : look.threads)
      if (each.key != 0 && wants_of(each, *then)) customers[each.key] = &each;
  }
  for (const ThreadKey key : pool.threads) customers.erase(key);
  return customers;
}

// '6 more threads ("http-1", "http-2", "http-3" and 3 more) wait with a time limit for tasks of this pool', and who
// waits for those without one: the pool is what many threads may wait for in the end.
void add_customers(const Facts& facts, const PoolFact& pool, std::vector<std::string>& evidence) {
  std::vector<std::string> limited, unlimited;
  const ThreadFact* only = nullptr;
  for (const auto& [key, thread] : customers_of(facts, pool)) {
    (thread->state == "TIMED_WAITING" ? limited : unlimited).push_back(thread->name);
    if (thread->state != "TIMED_WAITING") only = thread;
  }
  const auto add = [&](const std::vector<std::string>& names, const char* how) {
    if (names.empty()) return;
    evidence.push_back(counted(names.size(), "more thread") + " (" + some_of(names) + ") " +
                       (names.size() == 1 ? "waits" : "wait") + how + " for tasks of this pool");
  };
  if (unlimited.size() == 1) evidence.push_back("1 more thread waits for a task of this pool: " + doing(*only));
  else add(unlimited, "");
  add(limited, " with a time limit");
  const std::set<ThreadKey> members(pool.threads.begin(), pool.threads.end());
  const auto stuck = stuck_after(facts, members, looks_with(facts, pool));
  if (stuck.size() > unlimited.size()) evidence.push_back(stuck_words(facts, stuck));
}

Finding starved(const Facts& facts, const PoolFact& pool) {
  const ThreadsLook& look = facts.looks.back();
  const std::size_t count = pool.threads.size();
  const std::string name = name_of(look, pool);
  Finding finding{.rule = "pool", .next = "jtrace stack " + facts.target + " --java --group"};
  finding.sentence =
      (count == 1 ? std::string("The only thread of a pool waits for a task that is")
                  : "All " + std::to_string(count) + " threads of " +
                        (name.empty() ? "a pool" : "the pool " + quoted(name)) + " wait for tasks that are") +
      " in the queue of the same pool: no thread is left to run " + (count == 1 ? "it." : "them.");
  if (pool.queued) finding.evidence.push_back(tasks_of(pool));
  add_customers(facts, pool, finding.evidence);
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(count, kShown); ++i)
    if (const ThreadFact* each = look.find(pool.threads[i]))
      finding.evidence.push_back(quoted(*each) + " is " + each->wait->text + ", at " + own_place(each->frames));
  if (count > kShown) finding.evidence.push_back("and " + counted(count - kShown, "other"));
  if (pool.may_grow) finding.evidence.push_back("the pool may start more threads, but only when its queue is full");
  // Not since its threads ran last: they may have waited before their tasks were queued.
  if (const std::size_t looks = looks_with(facts, pool); looks > 1)
    finding.evidence.push_back("so at " + counted(looks, "look") + ", for at least " +
                               lasted_words(facts, look.ns - facts.looks[facts.looks.size() - looks].ns));
  const bool once = facts.live && facts.looks.size() == 1;
  finding.confidence = pool.may_grow || once ? Confidence::kLikely : Confidence::kCertain;
  return finding;
}

}  // namespace

void find_starved_pools(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty() || stands_still(facts)) return;
  const ThreadsLook& last = facts.looks.back();
  for (const PoolFact& each : last.pools) {
    if (!is_starved(last, each)) continue;
    if (facts.looks.size() > 1 && !has_starved(facts.looks[facts.looks.size() - 2], each.threads)) continue;
    const auto patient = patient_of(last, each);
    if (!patient.empty() && !wait_for_long(facts, each, patient)) continue;
    found.push_back(starved(facts, each));
    if (patient.empty()) continue;
    found.back().evidence.push_back(counted(patient.size(), "thread") + " of them " +
                                    (patient.size() == 1 ? "has" : "have") +
                                    " a time limit, which did not end the wait in " +
                                    seconds(static_cast<double>(last.ns - facts.looks.front().ns) / 1e9));
    found.back().confidence = Confidence::kLikely;
  }
}

}  // namespace jtrace::diagnose
