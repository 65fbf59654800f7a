// Rules about threads that wait for each other.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/strings.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

// Threads that wait for one lock at every look, while one thread has it; and for one of java.util.concurrent, if they
// have hardly run between the looks: they waited all the time.
constexpr std::size_t kSameWaiters = 5, kStillWaiters = 3;
constexpr std::uint64_t kLittle = 2'000'000;  // ns: each stop for a stack makes a thread run for a moment

using Keys = std::set<ThreadKey>;

Keys keys_of(const std::vector<ThreadKey>& cycle) { return {cycle.begin(), cycle.end()}; }

// Whether this sample has a circle of these threads.
bool has_cycle(const ThreadsLook& look, const Keys& keys) {
  return std::any_of(look.deadlocks.begin(), look.deadlocks.end(),
                     [&](const auto& each) { return keys_of(each) == keys; });
}

std::string doing(const ThreadFact& thread) {
  std::string text = quoted(thread) + (thread.wait ? " is " + thread.wait->text : " is " + thread.state);
  if (!thread.frames.empty()) text += ", at " + own_place(thread.frames);
  return text;
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
  if (facts.looks.size() > 1) finding.evidence.push_back("the same circle at two looks");
  return finding;
}

// The threads that wait for a lock in a sample, and its owner.
struct Crowd {
  Keys waiters;
  ThreadKey owner = 0;
  std::uint64_t object = 0;
  std::string class_name;
};
// Identified by properties that do not change from sample to sample: a collection may move the object.
using Lock = std::pair<ThreadKey, std::string>;  // its owner and class
std::map<Lock, Crowd> crowds_of(const ThreadsLook& look) {
  std::map<Lock, Crowd> crowds;
  for (const ThreadFact& each : look.threads) {
    if (!each.wait || !each.wait->blocks() || each.wait->owner_ended || each.key == 0) continue;
    Crowd& crowd = crowds[{each.wait->owner, each.wait->class_name}];
    crowd.waiters.insert(each.key);
    crowd.owner = each.wait->owner;
    crowd.object = each.wait->object;
    crowd.class_name = each.wait->class_name;
  }
  return crowds;
}

bool in_deadlock(const Facts& facts, ThreadKey key) {
  const auto& cycles = facts.looks.back().deadlocks;
  return std::any_of(cycles.begin(), cycles.end(), [&](const auto& each) { return keys_of(each).contains(key); });
}

std::size_t count_common(const std::vector<const Crowd*>& crowds) {
  return static_cast<std::size_t>(
      std::count_if(crowds.back()->waiters.begin(), crowds.back()->waiters.end(), [&](ThreadKey key) {
        return std::all_of(crowds.begin(), crowds.end(),
                           [&](const Crowd* each) { return each->waiters.contains(key); });
      }));
}

// As many of the common waiters as make a finding, from the first look to the last.
bool have_hardly_run(const Facts& facts, const std::vector<const Crowd*>& crowds) {
  const ThreadsLook &first = facts.looks.front(), &last = facts.looks.back();
  if (!looks_span(facts, kHeldLong)) return false;
  const auto is_still = [&](ThreadKey key) {
    const ThreadFact *then = first.find(key), *now = last.find(key);
    if (then == nullptr || now == nullptr) return false;
    // The kernel does not know the time of a virtual thread.
    const bool still = now->is_virtual ? then->frames == now->frames && !now->frames.empty()
                                       : then->ran_ns && now->ran_ns && *now->ran_ns - *then->ran_ns < kLittle;
    return still &&
           std::all_of(crowds.begin(), crowds.end(), [&](const Crowd* each) { return each->waiters.contains(key); });
  };
  const Keys& waiters = crowds.back()->waiters;
  return static_cast<std::size_t>(std::count_if(waiters.begin(), waiters.end(), is_still)) >= kStillWaiters;
}

// Several threads may accept the connections of one socket, or take turns at one selector: the lock that they share is
// given back when something comes.
bool waits_for_connections(const ThreadFact& thread) {
  // ServerSocket of 8 and 11, and of 13 and later; channels; selectors of Linux.
  constexpr std::array<std::string_view, 6> kCalls = {"java.net.PlainSocketImpl.socketAccept",
                                                      "sun.nio.ch.NioSocketImpl.accept",
                                                      "sun.nio.ch.Net.accept",
                                                      "sun.nio.ch.ServerSocketChannelImpl.accept",
                                                      "sun.nio.ch.EPoll.wait",
                                                      "sun.nio.ch.EPollArrayWrapper.epollWait"};
  return std::any_of(thread.frames.begin(), thread.frames.end(), [&](const FrameFact& frame) {
    return std::find(kCalls.begin(), kCalls.end(), frame.method) != kCalls.end();
  });
}

// A lock that one thread has in every sample.
void judge_crowd(const Facts& facts, const std::vector<const Crowd*>& crowds, std::vector<Finding>& found) {
  const Crowd& now = *crowds.back();
  const std::size_t common = count_common(crowds);
  const bool are_still = common >= kStillWaiters && have_hardly_run(facts, crowds);
  if (now.owner == 0 || (common < kSameWaiters && !are_still) || in_deadlock(facts, now.owner)) return;
  const ThreadFact* owner = facts.looks.back().find(now.owner);
  if (owner != nullptr && waits_for_connections(*owner)) return;
  std::string address;
  append_hex(address, now.object);
  found.push_back(
      {.rule = "contention",
       .sentence = std::to_string(common) + " threads wait for a lock that " +
                   (owner ? quoted(owner->name) : "another thread") + " does not give back.",
       .evidence = {"the lock <" + address + "> (a " + printable(now.class_name) + "), the same owner and " +
                        std::to_string(common) + " of the same waiters at " + counted(crowds.size(), "look"),
                    owner ? "its owner " + doing(*owner) : "its owner was not found among the threads"},
       .confidence = crowds.size() > 1 ? Confidence::kCertain : Confidence::kLikely,
       .next = "jtrace stack " + facts.target});
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

void find_contention(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty() || stands_still(facts)) return;
  std::vector<std::map<Lock, Crowd>> looks;
  for (const ThreadsLook& each : facts.looks) looks.push_back(crowds_of(each));
  for (const auto& [lock, crowd] : looks.back()) {
    std::vector<const Crowd*> crowds;
    for (const auto& look : looks)
      if (const auto then = look.find(lock); then != look.end()) crowds.push_back(&then->second);
    if (crowds.size() == looks.size()) judge_crowd(facts, crowds, found);
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
