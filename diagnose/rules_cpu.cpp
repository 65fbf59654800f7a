// Rules about single threads that make no progress.
#include <algorithm>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr double kRan = 0.02;        // of the time on a processor
constexpr double kLongCall = 0.5e9;  // ns on a processor: calls of the JDK that sort or parse much take a while
constexpr std::size_t kStacks = 6;   // this many equal stacks; fewer may be chance

// In the same method, called from the same places.
bool same_place(const std::vector<FrameFact>& one, const std::vector<FrameFact>& other) {
  return !one.empty() && one.size() == other.size() && one.front().method == other.front().method &&
         std::equal(one.begin() + 1, one.end(), other.begin() + 1);
}

// In the same call that the program has made of the JDK, whatever that does, called from the same places.
bool same_call_of_jdk(const std::vector<FrameFact>& one, const std::vector<FrameFact>& other) {
  const auto own = innermost_of_program(one), others = innermost_of_program(other);
  return own != one.begin() && own != one.end() && others != other.begin() &&
         std::equal(own, one.end(), others, other.end());
}

using Same = bool (*)(const std::vector<FrameFact>&, const std::vector<FrameFact>&);
bool are_all(Same same, const std::vector<std::vector<FrameFact>>& stacks) {
  return std::all_of(stacks.begin(), stacks.end(), [&](const auto& each) { return same(stacks.front(), each); });
}

// Equal lines are no evidence: a short method that is called in a loop gives the same.
bool is_one_call(const std::vector<std::vector<FrameFact>>& stacks) {
  const std::uint64_t call = stacks.front().front().call;
  return call != 0 &&
         std::all_of(stacks.begin(), stacks.end(), [call](const auto& each) { return each.front().call == call; });
}

// The same of the call that the program has made.
bool is_one_call_of_jdk(const std::vector<std::vector<FrameFact>>& stacks) {
  const std::uint64_t call = innermost_of_program(stacks.front())->call;
  return call != 0 && std::all_of(stacks.begin(), stacks.end(),
                                  [call](const auto& each) { return innermost_of_program(each)->call == call; });
}

// The virtual thread that this carrier ran at all looks; null: none, or not the same one.
const ThreadFact* carried_in_all(const Facts& facts, const ThreadFact& carrier) {
  const ThreadFact* carried = facts.looks.back().carried_by(carrier.name);
  const bool always = carried && std::all_of(facts.looks.begin(), facts.looks.end(), [&](const ThreadsLook& look) {
                        const ThreadFact* then = look.carried_by(carrier.name);
                        return then && then->key == carried->key;
                      });
  return always ? carried : nullptr;
}

// 'The thread "worker"', 'The virtual thread "cart" #12 on "ForkJoinPool-1-worker-1"'
std::string who_spins(const Facts& facts, const ThreadFact& thread) {
  const ThreadFact* carried = carried_in_all(facts, thread);
  return carried ? "The virtual thread " + quoted(*carried) + " on " + quoted(thread.name)
                 : "The thread " + quoted(thread.name);
}

Finding spinning(const Facts& facts, const ThreadFact& thread, double ran, std::size_t stacks, bool one_call) {
  const std::string method = printable(thread.frames.front().method);
  const std::string all = std::to_string(stacks) + " of " + counted(stacks, "stack");
  const std::string cpu = "on a processor " + percent(ran) + " of the time, and ready to run for the rest";
  const std::string at = place(thread.frames.front());
  Finding finding{.rule = "spinning", .next = "jtrace profile " + facts.target + " --duration 10"};
  const std::string who = who_spins(facts, thread);
  if (one_call) {
    finding.sentence = who + " runs without a pause in one call of " + method + ".";
    finding.evidence = {cpu, "at " + at + " in " + all + ", called from the same lines",
                        "the JVM's counters of this method have not changed meanwhile: no other call has begun"};
    finding.confidence = Confidence::kLikely;
  } else {
    finding.sentence = who + " runs without a pause, and was in " + method + " in " + all +
                       ": it is one call that does not end, or many short ones.";
    finding.evidence = {cpu, "the last time at " + at + ", each time called from the same lines",
                        "the JVM's counters do not show which of the two it is"};
    finding.confidence = Confidence::kHint;
  }
  return finding;
}

// What the frames below the JDK's show: those above them change all the time, as where a pattern is matched.
Finding spinning_in_jdk(const Facts& facts, const ThreadFact& thread, double ran,
                        const std::vector<std::vector<FrameFact>>& stacks) {
  const auto own = innermost_of_program(thread.frames);
  const std::string method = printable(own->method), callee = printable((own - 1)->method);
  const std::string all = std::to_string(stacks.size()) + " of " + counted(stacks.size(), "stack");
  const std::string who = who_spins(facts, thread);
  Finding finding{.rule = "spinning",
                  .evidence = {"on a processor " + percent(ran) + " of the time, and ready to run for the rest",
                               "at " + place(*own) + " in " + all + ", called from the same lines"},
                  .next = "jtrace stack " + facts.target + " --java --locals --thread " + shell_word(thread.name)};
  const double span = static_cast<double>(facts.looks.back().ns - facts.looks.front().ns);
  if (is_one_call_of_jdk(stacks) && ran * span >= kLongCall) {
    finding.sentence = who + " runs without a pause in one call of " + callee + " by " + method + ".";
    finding.evidence.push_back("the JVM's counters of " + method +
                               " have not changed meanwhile: it was not called again, and no loop in it went on");
    finding.confidence = Confidence::kLikely;
  } else {
    finding.sentence = who + " runs without a pause, and was in " + callee + ", called by " + method + ", in " + all +
                       ": it is one call that does not end, or many short ones.";
    finding.confidence = Confidence::kHint;
  }
  return finding;
}

bool is_late(const Facts& facts, ThreadKey key) {
  const auto has = [key](const std::vector<LateFact>& late) {
    return std::any_of(late.begin(), late.end(), [key](const LateFact& each) { return each.key == key; });
  };
  for (const SafepointFact& safepoint : facts.safepoints) {
    if (has(safepoint.late)) return true;
    for (const HandshakeFact& each : safepoint.handshakes.value_or(std::vector<HandshakeFact>()))
      if (has(each.late)) return true;
  }
  return false;
}

// The stacks of all samples and those between them; empty if one is incomplete.
std::vector<std::vector<FrameFact>> stacks_of(const Facts& facts, ThreadKey key) {
  std::vector<std::vector<FrameFact>> stacks;
  for (const ThreadsLook& look : facts.looks) {
    const ThreadFact* thread = look.find(key);
    if (!thread || !thread->whole) return {};
    stacks.push_back(thread->frames);
  }
  if (const auto more = facts.busy.find(key); more != facts.busy.end())
    stacks.insert(stacks.end(), more->second.begin(), more->second.end());
  return stacks;
}

void judge(const Facts& facts, const ThreadFact& thread, std::vector<Finding>& found) {
  if (thread.key == 0 || thread.frames.empty() || thread.wait || is_late(facts, thread.key)) return;
  double ran = 0;
  for (std::size_t i = 1; i < facts.looks.size(); ++i) {
    const auto share = share_between(facts.looks[i - 1], facts.looks[i], thread.key);
    const ThreadFact* then = facts.looks[i - 1].find(thread.key);
    const ThreadFact* now = facts.looks[i].find(thread.key);
    if (!share || !never_waits(*then, *now, facts.looks[i]) || share->ran < kRan) return;
    ran += share->ran / static_cast<double>(facts.looks.size() - 1);
  }
  const auto stacks = stacks_of(facts, thread.key);
  if (stacks.size() < kStacks) return;
  if (are_all(same_place, stacks)) found.push_back(spinning(facts, thread, ran, stacks.size(), is_one_call(stacks)));
  else if (are_all(same_call_of_jdk, stacks)) found.push_back(spinning_in_jdk(facts, thread, ran, stacks));
}

}  // namespace

void find_spinning(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  for (const ThreadFact& each : facts.looks.back().threads) judge(facts, each, found);
}

void find_stuck_finalizer(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts) || !looks_span(facts, kHeldLong)) return;
  for (const ThreadFact& each : facts.looks.back().threads) {
    const auto runs = std::find_if(each.frames.begin(), each.frames.end(), [](const FrameFact& frame) {
      return frame.method == "java.lang.ref.Finalizer.runFinalizer";
    });
    if (each.key == 0 || each.name != "Finalizer" || runs == each.frames.end()) continue;
    const bool same = std::all_of(facts.looks.begin(), facts.looks.end(), [&](const ThreadsLook& look) {
      const ThreadFact* then = look.find(each.key);
      return then && then->frames == each.frames;
    });
    if (!same) continue;
    found.push_back({.rule = "finalizer",
                     .sentence =
                         "The finalizer thread does not get on: it is in one finalize(), and what else is to be "
                         "finalized stays in the heap.",
                     .evidence = {"the same stack at " + counted(facts.looks.size(), "look") + ", at " +
                                  own_place(each.frames) + (each.wait ? ", " + each.wait->text : "")},
                     .confidence = Confidence::kCertain,
                     .next = "jtrace stack " + facts.target + " --thread Finalizer"});
  }
}

}  // namespace jtrace::diagnose
