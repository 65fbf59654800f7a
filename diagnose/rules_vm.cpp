// Rules about the JVM's own limits, and what its options disable.
#include <algorithm>

#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr double kNear = 0.9;       // of a limit
constexpr double kFullCode = 0.95;  // of the code cache: the rest may be too small for a large method

struct Space {
  std::string name, option;
  std::optional<double> used, committed;  // bytes
  std::optional<std::uint64_t> limit;
};

// What is committed counts against the limit. Much of it may be free and still of no use for other loaders (up to JDK
// 15), but a space that was nearly full once and is half empty again has no trouble.
bool is_near(const Space& space) {
  constexpr double kAll = 0.95, kMuch = 0.8;
  const auto limit = static_cast<double>(*space.limit);
  return *space.used >= kNear * limit || (space.committed.value_or(0) >= kAll * limit && *space.used >= kMuch * limit);
}

// The counters are written at the end of a collection: it may be more by now.
void judge_space(const Facts& facts, const Space& space, std::vector<Finding>& found) {
  if (!space.used || !space.limit || !is_near(space)) return;
  Finding finding{.rule = "metaspace",
                  .sentence = space.name +
                              " is nearly full: " + percent(*space.used / static_cast<double>(*space.limit)) + " of " +
                              mib_text(*space.limit) + " are in use; at the limit no class can be loaded.",
                  .evidence = {mib_text(*space.used) + " in use after the last collection, " + space.option + "=" +
                               std::to_string(*space.limit)},
                  .confidence = Confidence::kCertain,
                  .next = "jtrace inspect " + facts.target + " loaders"};
  if (space.committed) finding.evidence.front() += ", " + mib_text(*space.committed) + " committed";
  found.push_back(std::move(finding));
}

}  // namespace

void find_full_metaspace(const Facts& facts, std::vector<Finding>& found) {
  if (facts.counters.empty() || !facts.limits) return;
  const CounterFact& now = facts.counters.back();
  const LimitFact& limits = *facts.limits;
  judge_space(facts,
              {"Metaspace", "-XX:MaxMetaspaceSize", now.metaspace_used, now.metaspace_committed, limits.max_metaspace},
              found);
  judge_space(
      facts,
      {"The class space", "-XX:CompressedClassSpaceSize", now.class_space_used, std::nullopt, limits.max_class_space},
      found);
}

void find_full_code(const Facts& facts, std::vector<Finding>& found) {
  if (!facts.limits || facts.limits->code_size == 0) return;
  const LimitFact& limits = *facts.limits;
  const double share = share_of(limits.code_used, limits.code_size);
  if (!limits.compiler_off && share < kFullCode) return;
  found.push_back({.rule = "code-cache",
                   .sentence = limits.compiler_off
                                   ? "The JVM has stopped compiling: what is not compiled yet stays slow."
                                   : "The code cache is nearly full: methods are thrown out, or not compiled.",
                   .evidence = {mib_text(limits.code_used) + " of " + mib_text(limits.code_size) + " are in use (" +
                                percent(share) + ", -XX:ReservedCodeCacheSize)" +
                                (limits.compiler_off ? "; the JVM has set UseCompiler to false" : "")},
                   .confidence = limits.compiler_off ? Confidence::kCertain : Confidence::kLikely,
                   .next = "restart it with a larger -XX:ReservedCodeCacheSize"});
}

void find_much_collecting(const Facts& facts, std::vector<Finding>& found) {
  constexpr double kMuch = 0.25;  // of the time
  constexpr double kSeveral = 3;  // collections
  if (facts.counters.size() < 2) return;
  const CounterFact& before = facts.counters.front();
  const CounterFact& now = facts.counters.back();
  if (!before.gc_seconds || !now.gc_seconds || now.ns <= before.ns || now.uptime.value_or(0) < kGrownUp) return;
  const double elapsed = static_cast<double>(now.ns - before.ns) / 1e9;
  // The time of a pause is added when it ends: a single one may be a wanted one, or have begun before the first look.
  if (now.collections.value_or(0) < before.collections.value_or(0) + kSeveral) return;
  const double share = std::min(1.0, (*now.gc_seconds - *before.gc_seconds) / elapsed);
  const bool said =
      std::any_of(found.begin(), found.end(), [](const Finding& each) { return each.rule == "heap-full"; });
  if (share < kMuch || said) return;
  Finding finding{.rule = "gc-time",
                  .sentence = "The JVM spends " + percent(share) + " of its time in pauses of the collector.",
                  .evidence = {seconds(share * elapsed) + " in " +
                               std::to_string(static_cast<long>(*now.collections - before.collections.value_or(0))) +
                               " pauses within " + seconds(elapsed)},
                  .confidence = Confidence::kLikely,
                  .next = "hsperf stat -gcutil " + facts.target + " 1s"};
  note_explicit_collections(facts, finding);
  found.push_back(std::move(finding));
}

void note_explicit_collections(const Facts& facts, Finding& finding) {
  if (facts.counters.size() < 2) return;
  // The cause that the first look saw may be of a collection long before.
  const auto is_asked = [](const CounterFact& each) { return each.gc_cause == "System.gc()"; };
  const auto asked = std::count_if(facts.counters.begin() + 1, facts.counters.end(), is_asked);
  if (!is_asked(facts.counters.back()) || 2 * static_cast<std::size_t>(asked) < facts.counters.size() - 1) return;
  finding.evidence.push_back("the cause of the last collection was System.gc() at " + std::to_string(asked) + " of " +
                             counted(facts.counters.size() - 1, "look"));
  finding.next = "jtrace stack " + facts.target + " --java, for who calls System.gc(); -XX:+DisableExplicitGC";
}

void find_attach_off(const Facts& facts, std::vector<Finding>& found) {
  if (!facts.limits || !facts.limits->attach_off) return;
  found.push_back({.rule = "attach-off",
                   .sentence = "The JVM was started so that nothing can attach to it: jcmd, jstack and jtrace attach "
                               "are refused.",
                   .evidence = {"-XX:+DisableAttachMechanism"},
                   .confidence = Confidence::kHint,
                   .next = "commands that need no attach work: jtrace stack, inspect, profile"});
}

}  // namespace jtrace::diagnose
