// Rules about threads that wait for each other.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/strings.h"
#include "diagnose/deadlock_words.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr std::uint64_t kLittle = 2'000'000;  // ns: each stop for a stack makes a thread run for a moment

using Keys = std::set<ThreadKey>;

Keys keys_of(const std::vector<ThreadKey>& cycle) { return {cycle.begin(), cycle.end()}; }

// Whether this sample has a circle of these threads.
bool has_cycle(const ThreadsLook& look, const Keys& keys) {
  return std::any_of(look.deadlocks.begin(), look.deadlocks.end(),
                     [&](const auto& each) { return keys_of(each) == keys; });
}

// At how many looks, back from the last one, there is this circle.
std::size_t looks_with(const Facts& facts, const Keys& circle) {
  const auto last = std::find_if(facts.looks.rbegin(), facts.looks.rend(),
                                 [&](const ThreadsLook& each) { return !has_cycle(each, circle); });
  return static_cast<std::size_t>(last - facts.looks.rbegin());
}

Finding deadlock(const Facts& facts, const std::vector<ThreadKey>& cycle, Confidence confidence) {
  const ThreadsLook& look = facts.looks.back();
  std::string names;
  bool initialisation = false, only_locks = true;
  Finding finding{.rule = "deadlock", .confidence = confidence};
  for (const ThreadKey key : cycle) {
    const ThreadFact* thread = look.find(key);
    if (!thread) continue;
    names += (names.empty() ? "" : ", ") + quoted(thread->name);
    initialisation = initialisation || (thread->wait && thread->wait->kind == "initialisation");
    only_locks = only_locks && (!thread->wait || thread->wait->blocks());
    finding.evidence.push_back(doing(*thread));
  }
  finding.next = only_locks ? "jtrace inspect " + facts.target + " locks" : "jtrace stack " + facts.target + " --java";
  finding.sentence = "Deadlock" + std::string(initialisation ? " by class initialisation" : "") + ": the threads " +
                     names + " wait for each other in a circle, and none of them can go on.";
  for (std::string& each : extent_of(facts, keys_of(cycle), looks_with(facts, keys_of(cycle))))
    finding.evidence.push_back(std::move(each));
  return finding;
}

}  // namespace

void find_deadlocks(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty()) return;
  const ThreadsLook& last = facts.looks.back();
  for (const auto& cycle : last.deadlocks) {
    // A single sample of a live JVM may be inconsistent.
    const bool single = facts.looks.size() == 1;
    if (!single && !has_cycle(facts.looks[facts.looks.size() - 2], keys_of(cycle))) continue;
    found.push_back(deadlock(facts, cycle, single && facts.live ? Confidence::kLikely : Confidence::kCertain));
  }
}

void find_lost_locks(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty()) return;
  const bool single = facts.looks.size() == 1;
  const ThreadsLook& before = facts.looks[single ? 0 : facts.looks.size() - 2];
  std::map<std::pair<ThreadKey, std::uint64_t>, std::vector<const ThreadFact*>> waiters;  // by owner and lock
  for (const ThreadFact& each : facts.looks.back().threads) {
    const ThreadFact* then = before.find(each.key);
    const auto is_lost = [](const ThreadFact& thread) { return thread.wait && thread.wait->owner_ended; };
    if (is_lost(each) && then && is_lost(*then) && then->wait->owner == each.wait->owner)
      waiters[{each.wait->owner, each.wait->object}].push_back(&each);
  }
  for (const auto& [lock, threads] : waiters) {
    const ThreadFact& first = *threads.front();
    const std::string who =
        threads.size() == 1 ? quoted(first.name) + " waits" : counted(threads.size(), "thread") + " wait";
    found.push_back({.rule = "lost-lock",
                     .sentence = who + " for a lock that " + quoted(first.wait->owner_name) +
                                 " had when it ended: nobody can give it back.",
                     .evidence = {doing(first)},
                     .confidence = single && facts.live ? Confidence::kLikely : Confidence::kCertain,
                     .next = "jtrace inspect " + facts.target + " locks"});
  }
}

// Of these java.util.concurrent does not say who has them for reading (or, of a StampedLock, at all), so that no circle
// through them is found.
void find_waits_without_owner(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 2 || stands_still(facts) || !looks_span(facts, kHeldLong)) return;
  const auto waits = [](const ThreadFact* each) {
    return each != nullptr && each->wait && each->wait->kind == "park" && each->wait->owner == 0 &&
           (each->wait->class_name.starts_with("java.util.concurrent.locks.ReentrantReadWriteLock$") ||
            each->wait->class_name == "java.util.concurrent.locks.StampedLock");
  };
  std::vector<const ThreadFact*> stuck;
  for (const ThreadFact& each : facts.looks.back().threads) {
    const bool always =
        each.key != 0 && each.ran_ns && std::all_of(facts.looks.begin(), facts.looks.end(), [&](auto& look) {
          const ThreadFact* then = look.find(each.key);
          return waits(then) && then->ran_ns && *each.ran_ns - *then->ran_ns < kLittle;
        });
    if (always) stuck.push_back(&each);
  }
  if (stuck.empty()) return;
  const ThreadFact& first = *stuck.front();
  found.push_back({.rule = "lock-wait",
                   .sentence = counted(stuck.size(), "thread") + (stuck.size() == 1 ? " waits" : " wait") +
                               " for a lock whose owner Java does not know: it may be a deadlock.",
                   .evidence = {quoted(first) + " waits for a " + printable(first.wait->class_name) + ", at " +
                                    own_place(first.frames),
                                "at " + counted(facts.looks.size(), "look") + " over " +
                                    seconds(static_cast<double>(facts.looks.back().ns - facts.looks.front().ns) / 1e9) +
                                    ", and has hardly run in between"},
                   .confidence = Confidence::kLikely,
                   .next = "jtrace stack " + facts.target + " --java"});
}

}  // namespace jtrace::diagnose
