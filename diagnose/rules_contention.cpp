// The rule about locks that many threads wait for: one that keeps it, or many that take turns.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/duration.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

// Threads that wait for one lock at every look, while one thread has it; fewer, if they have hardly run between the
// looks: they waited all the time.
constexpr std::size_t kSameWaiters = 5, kStillWaiters = 3;
constexpr std::uint64_t kLittle = 2'000'000;       // ns: each stop for a stack makes a thread run for a moment
constexpr std::uint64_t kNotable = 1'000'000'000;  // ns before the first look
constexpr double kLongWait = 20e6;                 // ns: who has a lock for a moment makes nobody wait as long
constexpr double kNoProcessor = 0.5;  // of the time: with a lock, or about to take it, threads lacked a processor

using Keys = std::set<ThreadKey>;

// The threads that wait for a lock in a sample, and its owner.
struct Crowd {
  Keys waiters;
  ThreadKey owner = 0;  // 0: nobody at that moment, or not known
  std::uint64_t object = 0;
  std::string class_name;
  Keys members() const {
    Keys all = waiters;
    if (owner != 0) all.insert(owner);
    return all;
  }
};

Keys common_of(const Keys& one, const Keys& other) {
  Keys common;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::inserter(common, common.end()));
  return common;
}

bool are_of_one_object(const Crowd& one, const Crowd& other) {
  return one.object != 0 && one.object == other.object && one.class_name == other.class_name;
}

// The crowds of one look.
struct Crowds {
  std::vector<Crowd> all;
  std::optional<std::uint64_t> collections;
  const Crowd* of(const Crowd& other) const {
    const auto found = std::find_if(all.begin(), all.end(), [&](auto& each) { return are_of_one_object(each, other); });
    return found == all.end() ? nullptr : &*found;
  }
};

// A lock that goes from hand to hand has no owner for a moment.
bool wants_lock(const WaitFact& wait) {
  return wait.blocks() ||
         (wait.kind == "park" && wait.class_name.starts_with("java.util.concurrent.locks.ReentrantLock$"));
}

Crowds crowds_of(const ThreadsLook& look) {
  std::map<std::pair<std::uint64_t, std::string>, Crowd> crowds;
  for (const ThreadFact& each : look.threads) {
    if (!each.wait || !wants_lock(*each.wait) || each.wait->owner_ended || each.key == 0) continue;
    Crowd& crowd = crowds[{each.wait->object, each.wait->class_name}];
    crowd.waiters.insert(each.key);
    if (each.wait->owner != 0) crowd.owner = each.wait->owner;
    crowd.object = each.wait->object;
    crowd.class_name = each.wait->class_name;
  }
  Crowds found{.all = {}, .collections = look.collections};
  for (auto& [lock, crowd] : crowds) found.all.push_back(std::move(crowd));
  return found;
}

// If a collection may have moved the object meanwhile, the lock is known by its class and its threads, unless it is
// another one of the last look.
const Crowd* same_lock(const Crowds& then, const Crowd& now, const Crowds& last) {
  if (const Crowd* same = then.of(now)) return same;
  if (now.object != 0 && then.collections && then.collections == last.collections) return nullptr;
  const Crowd* best = nullptr;
  std::size_t most = 1;
  for (const Crowd& each : then.all) {
    if (each.class_name != now.class_name || last.of(each) != nullptr) continue;
    const std::size_t common = common_of(each.members(), now.members()).size();
    if (common > most) best = &each;
    most = std::max(most, common);
  }
  return best;
}

struct Contention {
  const Facts& facts;
  std::vector<const Crowd*> crowds;  // of the lock, one of each look
  const Crowd& last() const { return *crowds.back(); }
  ThreadKey owner() const {  // 0: not the same one at all looks
    const auto has_it = [&](const Crowd* each) { return each->owner == last().owner; };
    return std::all_of(crowds.begin(), crowds.end(), has_it) ? last().owner : 0;
  }
  Keys waiters() const {  // at all looks
    Keys common = last().waiters;
    for (const Crowd* each : crowds) common = common_of(common, each->waiters);
    return common;
  }
  const ThreadFact* then(ThreadKey key) const { return facts.looks.front().find(key); }
  const ThreadFact* now(ThreadKey key) const { return facts.looks.back().find(key); }
  std::uint64_t seen() const { return facts.looks.back().ns - facts.looks.front().ns; }
  double elapsed() const { return static_cast<double>(seen()); }
};

// The mean time that a thread waited, for this lock or anything else.
std::optional<double> mean_wait(const Contention& lock, ThreadKey key) {
  const auto waits = new_waits(lock.facts, key);
  const auto share = share_between(lock.facts.looks.front(), lock.facts.looks.back(), key);
  if (!waits || !share) return std::nullopt;
  return lock.elapsed() * std::max(0.0, 1 - share->wanted()) / static_cast<double>(*waits + 1);
}

// Whether the owner has not released it in between. It would have waked one of the waiters; and it would have had to
// run, where it is always seen waiting. Up to JDK 21 one waiter of a monitor looks for itself from time to time.
bool was_kept(const Contention& lock) {
  const auto has_slept = [&](ThreadKey key) { return sleep_of(lock.facts, key) == Sleep::kCertain; };
  const Keys waiters = lock.waiters();
  const auto slept = static_cast<std::size_t>(std::count_if(waiters.begin(), waiters.end(), has_slept));
  return slept == waiters.size() || (slept + 1 == waiters.size() && has_slept(lock.owner()));
}

// As many of the common waiters as make a finding, from the first look to the last.
bool have_hardly_run(const Contention& lock) {
  if (!looks_span(lock.facts, kHeldLong)) return false;
  const Keys waiters = lock.waiters();
  const auto is_still = [&](ThreadKey key) {
    const ThreadFact *then = lock.then(key), *now = lock.now(key);
    if (then == nullptr || now == nullptr) return false;
    // The kernel does not know the time of a virtual thread.
    return now->is_virtual ? then->frames == now->frames && !now->frames.empty()
                           : then->ran_ns && now->ran_ns && *now->ran_ns - *then->ran_ns < kLittle;
  };
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

bool in_deadlock(const Facts& facts, ThreadKey key) {
  const auto& cycles = facts.looks.back().deadlocks;
  const auto has_it = [&](const auto& each) { return std::find(each.begin(), each.end(), key) != each.end(); };
  return is_in_pool_circle(facts.looks.back(), key) || std::any_of(cycles.begin(), cycles.end(), has_it);
}

std::string name_of(const Crowd& crowd) {
  std::string address;
  append_hex(address, crowd.object);
  return "the lock <" + address + "> (a " + printable(crowd.class_name) + ")";
}

using NamesByPlace = std::map<std::string, std::vector<std::string>>;
NamesByPlace names_by_place(const Contention& lock, const Keys& waiters) {
  NamesByPlace names;
  for (const ThreadKey key : waiters)
    if (const ThreadFact* each = lock.now(key); each && !each->frames.empty())
      names[own_place(each->frames)].push_back(each->name);
  return names;
}

// Who waits at a place of its own, while others wait at one together, may be who should end the owner's wait: ",NAME"
// for each.
std::string lone_waiters(const NamesByPlace& names) {
  constexpr std::size_t kMost = 2;
  std::string text;
  std::size_t lone = 0;
  for (const auto& [place, waiters] : names)
    if (waiters.size() == 1 && !waiters.front().empty() && waiters.front().find(',') == std::string::npos) {
      ++lone;
      text += "," + waiters.front();
    }
  return lone <= kMost && lone < names.size() ? text : "";
}

// Where the waiters are: the places of most of them, with some of their names.
std::vector<std::string> places_of(const NamesByPlace& names) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> places(names.begin(), names.end());
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& one, const auto& other) { return one.second.size() > other.second.size(); });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(places.size(), kShown); ++i)
    lines.push_back(counted(places[i].second.size(), "waiter") + " at " + places[i].first + ": " +
                    some_of(places[i].second));
  if (places.size() > kShown) lines.push_back("and waiters at " + counted(places.size() - kShown, "other place"));
  return lines;
}

// Since when: before the first look its owner had not run, so that it had the lock already.
void add_duration(const Contention& lock, std::vector<std::string>& evidence) {
  const ThreadKey owner = lock.owner();
  const std::uint64_t lasted = least_duration(lock.facts, 0, std::span(&owner, 1)), before = lasted - lock.seen();
  if (before >= kNotable)
    evidence.push_back("its owner had not run for " + duration_words(before) +
                       " before the first look: it has had the lock for at least " + lasted_words(lock.facts, lasted));
}

// Why it keeps the lock is often in its variables. Threads without a name are not told apart.
std::string stack_of(const Facts& facts, const ThreadFact* owner, const std::string& others) {
  return "jtrace stack " + facts.target + " --java " +
         (owner && !owner->name.empty() ? "--locals --thread " + shell_word(owner->name + others) : "--group");
}

// A lock that one thread has in every sample.
void judge_kept(const Contention& lock, std::vector<Finding>& found) {
  const Facts& facts = lock.facts;
  const Keys waiters = lock.waiters();
  if (waiters.size() < kSameWaiters && (waiters.size() < kStillWaiters || !have_hardly_run(lock))) return;
  const bool once = facts.looks.size() == 1, kept = !once && was_kept(lock);
  // Where it is not certain: the owner may have it again and again.
  const auto waits_briefly = [&](ThreadKey key) { return mean_wait(lock, key).value_or(kLongWait) < kLongWait; };
  const auto brief = static_cast<std::size_t>(std::count_if(waiters.begin(), waiters.end(), waits_briefly));
  if (!kept && !once && waiters.size() - brief < kStillWaiters) return;
  const ThreadFact* owner = lock.now(lock.owner());
  if (owner != nullptr && waits_for_connections(*owner)) return;
  const NamesByPlace places = names_by_place(lock, waiters);
  const std::string looks = counted(facts.looks.size(), "look");
  const std::string time = time_between(facts.looks.front(), facts.looks.back());
  const std::string lasting = once ? ""
                                   : ", the same owner and " + std::to_string(waiters.size()) +
                                         " of the same waiters at " + looks + " over " + time;
  found.push_back({.rule = "contention",
                   .sentence = std::to_string(waiters.size()) + " threads wait for a lock that " +
                               (owner ? quoted(owner->name) : "another thread") +
                               (kept   ? " does not give back."
                                : once ? " has."
                                       : " had at each of " + looks + "."),
                   .evidence = {name_of(lock.last()) + lasting,
                                owner ? "its owner " + doing(*owner) : "its owner was not found among the threads"},
                   .confidence = kept ? Confidence::kCertain : Confidence::kLikely,
                   .next = stack_of(facts, owner, lone_waiters(places))});
  auto& evidence = found.back().evidence;
  for (std::string& each : places_of(places)) evidence.push_back(std::move(each));
  if (kept)
    evidence.push_back("for at least " + time +
                       " nobody else has had it: no thread that waits for it was waked in between");
  if (owner && (kept || sleep_of(facts, lock.owner()) == Sleep::kCertain)) add_duration(lock, evidence);
}

std::string names_of(const Facts& facts, const std::vector<ThreadKey>& keys) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(keys.size(), kShown); ++i)
    if (const ThreadFact* each = facts.looks.back().find(keys[i]))
      text += (text.empty() ? "" : ", ") + quoted(each->name);
  return text;
}

// Whether who had the lock slept or waited for something else meanwhile, at each look that shows its owner. Owner and
// state may be of different moments: who seems to wait for its own lock is not counted.
bool rests_with_it(const Contention& lock) {
  std::size_t rested = 0;
  for (std::size_t i = 0; i < lock.crowds.size(); ++i) {
    const Crowd& crowd = *lock.crowds[i];
    const ThreadFact* owner = crowd.owner != 0 ? lock.facts.looks[i].find(crowd.owner) : nullptr;
    if (owner == nullptr || (owner->wait && owner->wait->object == crowd.object)) continue;
    if (!owner->state.ends_with("WAITING") && owner->state != "BLOCKED") return false;
    ++rested;
  }
  return rested >= 2;
}

// A lock that threads have one after the other, and the others wait for long.
void judge_turns(const Contention& lock, std::vector<Finding>& found) {
  const Facts& facts = lock.facts;
  Keys members = lock.last().members(), all = members;
  std::size_t least = lock.last().waiters.size();
  std::vector<ThreadKey> owners;
  for (const Crowd* each : lock.crowds) {
    const Keys now = each->members();
    members = common_of(members, now);
    all.insert(now.begin(), now.end());
    least = std::min(least, each->waiters.size());
    if (each->owner != 0 && std::find(owners.begin(), owners.end(), each->owner) == owners.end())
      owners.push_back(each->owner);
  }
  if (facts.looks.size() < 3 || owners.empty() || least < kSameWaiters) return;
  double waited = 0, queued = 0;
  std::size_t long_waiters = 0;
  for (const ThreadKey each : members) {
    const auto mean = mean_wait(lock, each);
    if (!mean) continue;
    queued += share_between(facts.looks.front(), facts.looks.back(), each)->queued;
    if (*mean < kLongWait) continue;
    ++long_waiters;
    waited += *mean;
  }
  // The waits of an owner are counted with those for the lock: they make the mean too short.
  const bool rests = rests_with_it(lock);
  if (long_waiters < kSameWaiters && !rests) return;
  const ThreadFact* owner = lock.now(lock.last().owner);
  if (owner != nullptr && owner->wait && owner->wait->object == lock.last().object) owner = nullptr;  // a moment later
  if (owner != nullptr && (waits_for_connections(*owner) || in_deadlock(facts, owner->key))) return;
  Finding finding{.rule = "contention", .confidence = Confidence::kLikely};
  finding.sentence = std::to_string(least) + " of " + std::to_string(all.size()) +
                     " threads wait for one lock, and its owner changes: " + names_of(facts, owners) + ".";
  finding.evidence = {name_of(lock.last()) + ", " + std::to_string(least) + " or more waiters at " +
                      counted(facts.looks.size(), "look") + " over " + seconds(lock.elapsed() / 1e9)};
  if (rests) finding.evidence.emplace_back("its owners slept or waited for something else while they had it");
  else
    finding.evidence.push_back("each wait takes " +
                               std::to_string(static_cast<long>(waited / static_cast<double>(long_waiters) / 1e6)) +
                               " ms on average");
  if (owner) finding.evidence.push_back("its owner " + doing(*owner));
  if (queued > kNoProcessor) {
    finding.evidence.emplace_back("the threads lack a processor, so that who has the lock has it for longer");
    finding.confidence = Confidence::kHint;
  }
  finding.next = "jtrace profile " + facts.target + " --wall --duration 10";
  found.push_back(std::move(finding));
}

}  // namespace

void find_contention(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty() || stands_still(facts)) return;
  std::vector<Crowds> looks;
  for (const ThreadsLook& each : facts.looks) looks.push_back(crowds_of(each));
  for (const Crowd& crowd : looks.back().all) {
    Contention lock{.facts = facts, .crowds = {}};
    for (const auto& look : looks)
      if (const Crowd* then = same_lock(look, crowd, looks.back())) lock.crowds.push_back(then);
    if (lock.crowds.size() != looks.size() || in_deadlock(facts, crowd.owner)) continue;
    if (lock.owner() != 0) judge_kept(lock, found);
    else judge_turns(lock, found);
  }
}

}  // namespace jtrace::diagnose
