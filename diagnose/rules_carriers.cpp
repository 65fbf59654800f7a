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
// of 3 samples; it is waiting to lock <0x40>'
std::string keeps(const Facts& facts, const ThreadFact& thread) {
  return quoted(thread) + " keeps " + quoted(thread.carrier) + pinned_by(thread) + ", at " + own_place(thread.frames) +
         ", in all of " + counted(facts.looks.size(), "sample") + (thread.wait ? "; it is " + thread.wait->text : "");
}

std::vector<std::string> lines_of(const Facts& facts, const Keepers& keepers) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> lines;
  for (const auto& [carrier, keeper] : keepers)
    if (lines.size() < kShown) lines.push_back(keeps(facts, *keeper));
  if (keepers.size() > kShown) lines.push_back("and " + counted(keepers.size() - kShown, "other"));
  return lines;
}

// Whether a thread was on a processor for some time between the first and the last look.
bool ran_at_all(const Facts& facts, ThreadKey key) {
  constexpr double kRan = 0.02;
  const auto share = share_between(facts.looks.front(), facts.looks.back(), key);
  return share && share->wanted() > kRan;
}

// Whether it never waits, and runs the same virtual thread at each look. Others may have had it in between.
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

// The carriers of one pool, at the last look.
struct Carriers {
  Keepers pinned;                       // of those that sit on one in all samples
  Keepers keepers;                      // of these, those whose carriers are known not to have run
  std::vector<const ThreadFact*> busy;  // carriers that run one virtual thread without a pause
  std::size_t free = 0;                 // carriers that are not kept, the busy ones included
  std::size_t ready = 0;                // virtual threads that wait for a carrier
  std::size_t others = 0;               // virtual threads that have none
  std::size_t parallelism = 0;          // 0: not known
  // The pool starts its threads when it needs them.
  std::size_t all() const { return std::max(parallelism, free + keepers.size()); }
  std::size_t left() const { return all() - keepers.size() - busy.size(); }
};

// Of a pool that has a carrier with this name.
Carriers carriers_of(const Facts& facts, std::string_view name) {
  Carriers carriers{.pinned = pinned_in_all(facts)};
  for (const ThreadFact& each : facts.looks.back().threads) {
    if (waits_for_carrier(each)) ++carriers.ready;
    if (each.is_virtual && each.carrier.empty()) ++carriers.others;
    if (each.is_virtual || scheduler_of(each.name) != scheduler_of(name)) continue;
    if (each.parallelism) carriers.parallelism = static_cast<std::size_t>(*each.parallelism);
    const auto keeper = carriers.pinned.find(each.name);
    if (keeper == carriers.pinned.end() || ran_at_all(facts, each.key)) {
      ++carriers.free;
      if (is_busy_with_one(facts, each)) carriers.busy.push_back(&each);
    } else if (!is_replaced(*keeper->second) && share_between(facts.looks.front(), facts.looks.back(), each.key))
      carriers.keepers.insert(*keeper);
  }
  return carriers;
}

// For long enough that it does not look so by chance, and the kernel shows that its carrier was in one wait.
bool waits_pinned(const Facts& facts, const std::string& carrier, const ThreadFact& keeper) {
  const auto& threads = facts.looks.back().threads;
  const auto thread = std::find_if(threads.begin(), threads.end(),
                                   [&](const ThreadFact& each) { return !each.is_virtual && each.name == carrier; });
  const bool pinned = keeper.virtual_state.ends_with("PINNED") || (keeper.wait && keeper.wait->blocks());
  return pinned && thread != threads.end() && slept_all_along(facts, thread->key);
}

// Whether it had a good part of a processor; without one, the virtual thread on it might be done at once.
bool computes(const Facts& facts, const ThreadFact& carrier) {
  constexpr double kComputes = 0.25;  // of the time
  const auto share = share_between(facts.looks.front(), facts.looks.back(), carrier.key);
  return share && share->ran >= kComputes;
}

// At two looks or more: it is no chance that somebody needs a carrier.
bool some_waited_for_carrier(const Facts& facts) {
  const auto has_one = [](const ThreadsLook& look) {
    return std::any_of(look.threads.begin(), look.threads.end(), waits_for_carrier);
  };
  return std::count_if(facts.looks.begin(), facts.looks.end(), has_one) > 1;
}

// Whether a third of the carriers is left for others at most, and for certain. Calls into the kernel (files) do not
// count: the JDK may have started another carrier for them.
bool are_too_few(const Facts& facts, const Carriers& carriers) {
  if (carriers.parallelism == 0 || carriers.others == 0 || !looks_span(facts, kHeldLong)) return false;
  const auto kept = std::count_if(carriers.keepers.begin(), carriers.keepers.end(),
                                  [&](const auto& each) { return waits_pinned(facts, each.first, *each.second); });
  const auto busy = std::count_if(carriers.busy.begin(), carriers.busy.end(),
                                  [&](const ThreadFact* each) { return computes(facts, *each); });
  const auto lost = static_cast<std::size_t>(kept + busy);
  return kept > 0 && some_waited_for_carrier(facts) && 3 * (carriers.all() - lost) <= carriers.all();
}

// '1 of 3 carriers of virtual threads is kept by "sync-5", which waits: it cannot run others meanwhile.'
std::string sentence_of_kept(const Carriers& carriers) {
  const std::size_t kept = carriers.keepers.size();
  return std::to_string(kept) + " of " + counted(carriers.all(), "carrier") + " of virtual threads " +
         (kept == 1 ? "is kept by " + quoted(carriers.keepers.begin()->second->name) + ", which waits"
                    : "are each kept by a virtual thread that waits") +
         common_cause(carriers.keepers) + ": " + (kept == 1 ? "it" : "they") + " cannot run others meanwhile.";
}

// 'Only 1 of 3 carriers is left for 206 other virtual threads: "sync-5" waits and keeps one, pinned by native method
// App.call, and "cart-7" was on another at each look, which was always busy.'
std::string sentence_of_few(const Facts& facts, const Carriers& carriers) {
  const std::size_t kept = carriers.keepers.size(), busy = carriers.busy.size(), left = carriers.left();
  std::string text = left == 0 ? "None" : "Only " + std::to_string(left);
  text += " of " + counted(carriers.all(), "carrier") + (left > 1 ? " are" : " is") + " left for " +
          counted(carriers.others, "other virtual thread") + ": ";
  text += kept == 1 ? quoted(carriers.keepers.begin()->second->name) + " waits and keeps one"
                    : std::to_string(kept) + " wait and keep one each";
  text += common_cause(carriers.keepers);
  if (busy == 1)
    text += ", and " + quoted(facts.looks.back().carried_by(carriers.busy.front()->name)->name) +
            " was on another at each look, which was always busy";
  if (busy > 1) text += ", and " + std::to_string(busy) + " were on others, which were always busy";
  return text + ".";
}

// Some carriers are kept, others are left, or nobody needs one now: there may be too few soon.
void find_lost_carriers(const Facts& facts, const Carriers& carriers, std::vector<Finding>& found) {
  if (carriers.keepers.empty()) return;
  const bool few = are_too_few(facts, carriers);
  Finding finding{.rule = "pinned",
                  .sentence = few ? sentence_of_few(facts, carriers) : sentence_of_kept(carriers),
                  .evidence = lines_of(facts, carriers.keepers),
                  .confidence = few ? Confidence::kLikely : Confidence::kHint,
                  .next = stacks_of_keepers(facts, carriers.keepers)};
  for (const ThreadFact* each : carriers.busy) {
    const ThreadFact& runs = *facts.looks.back().carried_by(each->name);
    finding.evidence.push_back(quoted(runs) + " was on " + quoted(each->name) +
                               ", which was always busy, at each look" +
                               (runs.frames.empty() ? "" : ", at " + own_place(runs.frames)));
  }
  finding.evidence.push_back(counted(carriers.left(), "carrier") + " " + is_are(carriers.left()) +
                             " left for all others");
  found.push_back(std::move(finding));
}

// It has begun, and was ready to go on in all samples, for long.
bool is_starved_of_carriers(const Facts& facts, const ThreadFact& thread) {
  return std::all_of(facts.looks.begin(), facts.looks.end(), [&](const ThreadsLook& look) {
    const ThreadFact* then = look.find(thread.key);
    return then && waits_for_carrier(*then) && then->virtual_state != "STARTED" && then->frames == thread.frames;
  });
}

// No carrier waits for anything: virtual threads that compute leave none to those that are ready. Those that have not
// begun do not count: a batch has more of them than carriers.
void find_busy_carriers(const Facts& facts, const Carriers& carriers, std::vector<Finding>& found) {
  const bool all_compute = carriers.parallelism != 0 && carriers.busy.size() >= carriers.all() &&
                           std::all_of(carriers.busy.begin(), carriers.busy.end(),
                                       [&](const ThreadFact* each) { return computes(facts, *each); });
  if (!all_compute || !looks_span(facts, kHeldLong)) return;
  const auto& threads = facts.looks.back().threads;
  const auto starved = static_cast<std::size_t>(std::count_if(
      threads.begin(), threads.end(), [&](const ThreadFact& each) { return is_starved_of_carriers(facts, each); }));
  if (starved == 0) return;
  Finding finding{.rule = "pinned",
                  .sentence = "Virtual threads may wait long: each of " + counted(carriers.all(), "carrier") +
                              " is always busy, with the same virtual thread at each look, and " +
                              counted(starved, "other") + " " + (starved == 1 ? "was" : "were") + " ready each time.",
                  .confidence = Confidence::kHint,
                  .next = "jtrace profile " + facts.target + " --duration 10"};
  constexpr std::size_t kShown = 3;
  for (const ThreadFact* each : carriers.busy)
    if (finding.evidence.size() < kShown) {
      const ThreadFact& runs = *facts.looks.back().carried_by(each->name);
      finding.evidence.push_back(quoted(runs) + " runs on " + quoted(each->name) + ", at " + own_place(runs.frames));
    }
  finding.evidence.push_back("over " + time_between(facts.looks.front(), facts.looks.back()));
  found.push_back(std::move(finding));
}

// A carrier, by its name; "": no virtual thread runs.
std::string any_carrier(const ThreadsLook& look) {
  const auto runs = std::find_if(look.threads.begin(), look.threads.end(),
                                 [](const ThreadFact& each) { return each.is_virtual && !each.carrier.empty(); });
  return runs == look.threads.end() ? "" : runs->carrier;
}

}  // namespace

void find_pinned_carriers(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  const std::string carrier = any_carrier(facts.looks.back());
  if (carrier.empty()) return;
  const Carriers carriers = carriers_of(facts, carrier);
  if (carriers.keepers.empty()) find_busy_carriers(facts, carriers, found);
  if (carriers.pinned.empty()) return;
  if (carriers.ready == 0 || carriers.free > 0) return find_lost_carriers(facts, carriers, found);
  const std::size_t kept = carriers.pinned.size();
  found.push_back({.rule = "pinned",
                   .sentence = "Virtual threads do not run: " + std::to_string(kept) + " of " +
                               counted(carriers.all(), "carrier") + (kept == 1 ? " is" : " are each") +
                               " kept by a virtual thread that waits" + common_cause(carriers.pinned) + ", and " +
                               counted(carriers.ready, "other") + " " + is_are(carriers.ready) + " ready.",
                   .evidence = lines_of(facts, carriers.pinned),
                   .confidence = Confidence::kLikely,
                   // Who should end their wait may be a virtual thread that has no carrier either.
                   .next = "jtrace stack " + facts.target + " --java --group"});
}

}  // namespace jtrace::diagnose
