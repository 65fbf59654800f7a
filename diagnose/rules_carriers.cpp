// The rule about carriers that virtual threads keep while they wait.
#include <algorithm>
#include <array>
#include <map>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

// Ready to run, and on no carrier.
bool waits_for_carrier(const ThreadFact& thread) {
  constexpr std::array<std::string_view, 4> kReady = {"STARTED", "UNPARKED", "UNBLOCKED", "YIELDED"};
  return thread.is_virtual && thread.carrier.empty() &&
         std::find(kReady.begin(), kReady.end(), thread.virtual_state) != kReady.end();
}

using Keepers = std::map<std::string, const ThreadFact*>;  // by carrier

// The virtual threads that sit on their carriers without running, in all samples.
Keepers pinned_in_all(const Facts& facts) {
  Keepers pinned;
  for (const ThreadFact& each : facts.looks.back().threads) {
    if (!each.is_virtual || each.carrier.empty()) continue;
    const bool still = std::all_of(facts.looks.begin(), facts.looks.end(), [&](const ThreadsLook& look) {
      const ThreadFact* then = look.find(each.key);
      return then && then->carrier == each.carrier && then->frames == each.frames;
    });
    if (still) pinned[each.carrier] = &each;
  }
  return pinned;
}

// "ForkJoinPool-1-worker-3" without its number.
std::string_view scheduler_of(std::string_view carrier) { return carrier.substr(0, carrier.rfind('-') + 1); }

// ", pinned by the class initializer of shop.Rates"; "" if the frames do not show why.
std::string pinned_by(const ThreadFact& thread) {
  std::string causes;
  for (const std::string& each : thread.pinned_by)
    causes += (causes.empty() ? ", pinned by " : " and ") + printable(each);
  return causes;
}

// '"sync-5" #57 keeps "ForkJoinPool-1-worker-3", pinned by a monitor it holds (a Cart), at App.wait(App.java:3), in all
// of 3 samples'
std::string keeps(const Facts& facts, const ThreadFact& thread) {
  return quoted(thread) + " keeps " + quoted(thread.carrier) + pinned_by(thread) + ", at " + own_place(thread.frames) +
         ", in all of " + counted(facts.looks.size(), "sample");
}

// Whether a thread was on a processor for some time between the first and the last look.
bool ran_at_all(const Facts& facts, ThreadKey key) {
  constexpr double kRan = 0.02;
  const auto share = share_between(facts.looks.front(), facts.looks.back(), key);
  return share && share->wanted() > kRan;
}

// Whether it runs one and the same virtual thread, without a pause.
bool is_busy_with_one(const Facts& facts, const ThreadFact& carrier) {
  const ThreadFact* last = facts.looks.back().carried_by(carrier.name);
  if (last == nullptr) return false;
  for (std::size_t i = 1; i < facts.looks.size(); ++i) {
    const ThreadFact *then = facts.looks[i - 1].find(carrier.key), *now = facts.looks[i].find(carrier.key);
    const ThreadFact *one = facts.looks[i - 1].carried_by(carrier.name),
                     *other = facts.looks[i].carried_by(carrier.name);
    if (!then || !now || !one || !other || one->key != last->key || other->key != last->key) return false;
    if (!never_waits(*then, *now, facts.looks[i])) return false;
  }
  return true;
}

// ", pinned by ...", if it is the same for all of them.
std::string common_cause(const Keepers& keepers) {
  const std::string first = pinned_by(*keepers.begin()->second);
  const auto is_same = [&](const auto& each) { return pinned_by(*each.second) == first; };
  return std::all_of(keepers.begin(), keepers.end(), is_same) ? first : "";
}

// The stack of one that has a name: they are not told apart otherwise.
std::string stacks_of_keepers(const Facts& facts, const Keepers& keepers) {
  const auto named =
      std::find_if(keepers.begin(), keepers.end(), [](auto& each) { return !each.second->name.empty(); });
  return "jtrace stack " + facts.target + " --java " +
         (named == keepers.end() ? "--group" : "--thread " + shell_word(named->second->name));
}

// The JDK starts another carrier for a virtual thread in Object.wait.
bool is_replaced(const ThreadFact& thread) {
  return !thread.frames.empty() && thread.frames.front().method.starts_with("java.lang.Object.wait");
}

// Some carriers are kept, others are left, or nobody needs one now: there may be too few soon.
void find_lost_carriers(const Facts& facts, const Keepers& keepers, const std::vector<const ThreadFact*>& free,
                        std::vector<Finding>& found) {
  constexpr std::size_t kShown = 3;
  if (keepers.empty()) return;
  const std::size_t all = free.size() + keepers.size(), kept = keepers.size();
  Finding finding{.rule = "pinned",
                  .sentence = std::to_string(kept) + " of " + counted(all, "carrier") + " of virtual threads " +
                              (kept == 1 ? "is kept by " + quoted(keepers.begin()->second->name) + ", which waits"
                                         : "are each kept by a virtual thread that waits") +
                              common_cause(keepers) + ": " + (kept == 1 ? "it" : "they") +
                              " cannot run others meanwhile.",
                  .confidence = Confidence::kHint,
                  .next = stacks_of_keepers(facts, keepers)};
  for (const auto& [carrier, keeper] : keepers)
    if (finding.evidence.size() < kShown) finding.evidence.push_back(keeps(facts, *keeper));
  if (kept > kShown) finding.evidence.push_back("and " + counted(kept - kShown, "other"));
  std::size_t left = free.size();
  for (const ThreadFact* each : free) {
    if (!is_busy_with_one(facts, *each)) continue;
    finding.evidence.push_back(quoted(*facts.looks.back().carried_by(each->name)) + " runs on " + quoted(each->name) +
                               " without a pause");
    --left;
  }
  finding.evidence.push_back(counted(left, "carrier") + " " + is_are(left) + " left for all others");
  found.push_back(std::move(finding));
}

}  // namespace

void find_pinned_carriers(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  const auto pinned = pinned_in_all(facts);
  if (pinned.empty()) return;
  std::size_t waiting = 0;
  std::vector<const ThreadFact*> free;  // carriers that can take others
  Keepers keepers;                      // those of carriers that are known not to have run
  for (const ThreadFact& each : facts.looks.back().threads) {
    if (waits_for_carrier(each)) ++waiting;
    const bool carrier = !each.is_virtual && scheduler_of(each.name) == scheduler_of(pinned.begin()->first);
    if (!carrier) continue;
    const auto keeper = pinned.find(each.name);
    if (keeper == pinned.end() || ran_at_all(facts, each.key)) free.push_back(&each);
    else if (!is_replaced(*keeper->second) && share_between(facts.looks.front(), facts.looks.back(), each.key))
      keepers.insert(*keeper);
  }
  if (waiting == 0 || !free.empty()) return find_lost_carriers(facts, keepers, free, found);
  found.push_back({.rule = "pinned",
                   .sentence = "Virtual threads do not run: " + counted(pinned.size(), "carrier") +
                               (pinned.size() == 1 ? " is" : " are each") + " kept by a virtual thread that waits" +
                               common_cause(pinned) + ", and " + counted(waiting, "other") + " " + is_are(waiting) +
                               " ready.",
                   .evidence = {keeps(facts, *pinned.begin()->second)},
                   .confidence = Confidence::kLikely,
                   .next = stacks_of_keepers(facts, pinned)});
}

}  // namespace jtrace::diagnose
