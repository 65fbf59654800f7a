// Rules about safepoints, and about VM operations at a safepoint.
#include <algorithm>

#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

using State = SafepointFact::State;
constexpr double kLong = 1.0;  // seconds; passing safepoints last milliseconds

// A safepoint that two samples saw in the same state, for a time by its own clock, or by the samples.
struct Lasting {
  const SafepointFact* now = nullptr;
  double since = 0;  // seconds
  bool at_least = false;
  std::string text() const { return (at_least ? "at least " : "") + seconds(since); }
};

// Null if the last two samples do not have one.
Lasting lasting(const Facts& facts, State state) {
  if (facts.safepoints.size() < 2 || stands_still(facts)) return {};
  const SafepointFact& now = facts.safepoints.back();
  const SafepointFact& before = facts.safepoints[facts.safepoints.size() - 2];
  if (now.state != state || before.state != state || !now.number || now.number != before.number) return {};
  if (now.since && !now.at_least) return {.now = &now, .since = *now.since};
  const double between = static_cast<double>(now.ns - before.ns) / 1e9;
  return {.now = &now, .since = std::max(now.since.value_or(0), between + before.since.value_or(0)), .at_least = true};
}

// The handshake of the last sample, if an earlier one saw it too.
const HandshakeFact* earlier(const Facts& facts, const HandshakeFact& now) {
  for (const HandshakeFact& each : *facts.safepoints[facts.safepoints.size() - 2].handshakes)
    if (each.number == now.number && each.requester == now.requester) return &each;
  return nullptr;
}

std::string operation_of(const SafepointFact& safepoint) {
  std::string text = safepoint.operation.empty() ? "an unknown VM operation" : safepoint.operation;
  if (!safepoint.requester.empty()) text += ", requested by " + quoted(safepoint.requester);
  return text;
}

// The threads that are late in both samples.
std::vector<LateFact> late_in_both(const std::vector<LateFact>& before, std::vector<LateFact> late) {
  std::erase_if(late, [&](const LateFact& each) {
    return std::none_of(before.begin(), before.end(), [&](const LateFact& then) { return then.key == each.key; });
  });
  return late;
}

// A thread's frame is not known in a sample of the safepoint, which does not stop it, but the samples of all threads
// have it.
std::string frame_of(const Facts& facts, const LateFact& late) {
  if (!late.frame.empty()) return late.frame;
  if (facts.looks.empty()) return "";
  const ThreadFact* thread = facts.looks.back().find(late.key);
  return thread && !thread->frames.empty() ? place(thread->frames.front()) : "";
}

// Adds a line for each, and returns their names.
std::string add_late(const Facts& facts, const std::vector<LateFact>& late, Finding& finding) {
  std::string names;
  for (const LateFact& each : late) {
    names += (names.empty() ? "" : ", ") + quoted(each.name);
    const std::string frame = frame_of(facts, each);
    finding.evidence.push_back(quoted(each.name) + " " + printable(each.why) +
                               (frame.empty() ? "" : ", at " + printable(frame)));
  }
  return names;
}

void judge_handshake(const Facts& facts, const HandshakeFact& before, const HandshakeFact& now,
                     std::vector<Finding>& found) {
  const auto late = late_in_both(before.late, now.late);
  const double between =
      static_cast<double>(facts.safepoints.back().ns - facts.safepoints[facts.safepoints.size() - 2].ns) / 1e9;
  const double since = between + before.since;
  if (late.empty() || since < kLong) return;
  const std::string requester = now.requester.empty() ? "A thread" : quoted(now.requester);
  Finding finding{.rule = "handshake",
                  .confidence = Confidence::kLikely,
                  .next = "jtrace inspect " + facts.target + " safepoint --stop"};
  finding.evidence.push_back("for at least " + seconds(since) +
                             (now.name.empty() ? "" : ", for " + printable(now.name)) +
                             (now.all ? ", which each thread is to run" : ""));
  const std::string names = add_late(facts, late, finding);
  finding.sentence = requester + " waits for a handshake (a request of the VM) that " + names +
                     (late.size() == 1 ? " does" : " do") + " not come to run.";
  found.push_back(std::move(finding));
}

// A core is one sample: a safepoint that was just being reached looks the same.
void find_in_core(const Facts& facts, std::vector<Finding>& found) {
  const SafepointFact& core = facts.safepoints.front();
  if (core.state != State::kSynchronizing || core.late.empty()) return;
  Finding finding{.rule = "safepoint",
                  .sentence = "When the core was written, a safepoint had not been reached.",
                  .evidence = {"for " + operation_of(core)},
                  .confidence = Confidence::kHint,
                  .next = "jtrace inspect " + facts.target + " safepoint"};
  for (const LateFact& each : core.late) finding.evidence.push_back(quoted(each.name) + " " + printable(each.why));
  found.push_back(std::move(finding));
}

}  // namespace

void find_late_safepoint(const Facts& facts, std::vector<Finding>& found) {
  if (!facts.live && !facts.safepoints.empty()) return find_in_core(facts, found);
  const Lasting lasts = lasting(facts, State::kSynchronizing);
  if (!lasts.now || lasts.since < kLong) return;
  Finding finding{.rule = "safepoint",
                  .confidence = Confidence::kCertain,
                  .next = "jtrace inspect " + facts.target + " safepoint --stop"};
  finding.evidence.push_back("for " + lasts.text() + ", for " + operation_of(*lasts.now));
  const auto& before = facts.safepoints[facts.safepoints.size() - 2].late;
  const std::string names = add_late(facts, late_in_both(before, lasts.now->late), finding);
  finding.sentence =
      names.empty() ? "The JVM stands still: a safepoint is not reached, and no thread was found that holds it up."
                    : "The JVM stands still: a safepoint is not reached, because " + names + " does not stop for it.";
  found.push_back(std::move(finding));
}

void find_late_handshake(const Facts& facts, std::vector<Finding>& found) {
  if (facts.safepoints.size() < 2 || stands_still(facts)) return;
  const auto& before = facts.safepoints[facts.safepoints.size() - 2].handshakes;
  const auto& now = facts.safepoints.back().handshakes;
  if (!before || !now) return;
  for (const HandshakeFact& each : *now)
    if (const HandshakeFact* then = earlier(facts, each)) judge_handshake(facts, *then, each, found);
}

void find_long_operation(const Facts& facts, std::vector<Finding>& found) {
  const Lasting lasts = lasting(facts, State::kSynchronized);
  if (!lasts.now || lasts.since < kLong) return;
  const std::string& name = lasts.now->operation;
  found.push_back({.rule = "vm-operation",
                   .sentence = "All Java threads are stopped while the VM works on " +
                               (name.empty() ? "one operation" : name) + ", for " + lasts.text() + " now.",
                   .evidence = {operation_of(*lasts.now), "the same safepoint at two looks"},
                   .confidence = Confidence::kCertain,
                   .next = "jtrace stack " + facts.target + " --thread 'VM Thread'"});
}

// Native code has an array for a moment all the time: only one that no collection came in between has kept it.
void find_kept_gc_locker(const Facts& facts, std::vector<Finding>& found) {
  if (facts.safepoints.size() < 2 || facts.counters.size() < 2 || stands_still(facts)) return;
  for (const SafepointFact& each : facts.safepoints)
    if (!each.locker_wanted.value_or(false)) return;
  const auto& before = facts.counters.front().collections;
  const auto& now = facts.counters.back().collections;
  if (!before || !now || *before != *now) return;
  const double span = static_cast<double>(facts.safepoints.back().ns - facts.safepoints.front().ns) / 1e9;
  Finding finding{.rule = "gc-locker",
                  .sentence =
                      "A collection waits for native code that does not give an array of the heap back, and "
                      "threads that need memory wait for the collection.",
                  .evidence = {"at " + counted(facts.safepoints.size(), "look") + " over " + seconds(span) +
                               ", without a collection in between"},
                  .confidence = Confidence::kCertain,
                  .next = "jtrace stack " + facts.target};
  if (const auto regions = facts.safepoints.back().locker_regions; regions && *regions > 0)
    finding.evidence.push_back(counted(*regions, "thread") + " in JNI critical regions (GetPrimitiveArrayCritical)");
  found.push_back(std::move(finding));
}

}  // namespace jtrace::diagnose
