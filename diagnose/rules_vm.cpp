// Rules about the JVM's own limits, and what its options disable.
#include <algorithm>
#include <string_view>

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

// What is committed counts against the limit.
bool is_near(const Space& space) {
  constexpr double kAll = 0.95, kMuch = 0.8;
  const auto limit = static_cast<double>(*space.limit);
  return *space.used >= kNear * limit || (space.committed.value_or(0) >= kAll * limit && *space.used >= kMuch * limit);
}

// A class loader has memory of its own, in pieces, and nobody else can use what it leaves free of them: with many
// loaders of few classes a space is full while little of it is in use.
bool is_committed(const Space& space) {
  constexpr double kPiece = 256 << 10;  // bytes: what is left is less than some of the pieces
  constexpr double kNothing = 0.02;     // of the limit
  const auto limit = static_cast<double>(*space.limit);
  return space.committed && limit - *space.committed <= std::max(kPiece, kNothing * limit);
}

// Whether it may be free memory that the space keeps for the next class loader. From JDK 16 on (JEP 387) the VM gives
// back what a collection has freed. Before it keeps all of it; but a collection of the last resort has found too
// little.
bool may_be_free(const Facts& facts) {
  constexpr int kGivesBack = 16;
  return facts.feature < kGivesBack && std::none_of(facts.counters.begin(), facts.counters.end(), [](const auto& each) {
           return each.gc_cause == "Last ditch collection";
         });
}

Finding full_space(const Facts& facts, const Space& space) {
  const std::string limit = mib_text(*space.limit), used = mib_text(*space.used);
  Finding finding{.rule = "metaspace", .next = "jtrace inspect " + facts.target + " loaders"};
  if (is_near(space)) {
    finding.sentence = space.name + " is nearly full: " + percent(*space.used / static_cast<double>(*space.limit)) +
                       " of " + limit + " are in use; at the limit no class can be loaded.";
    finding.evidence = {used + " in use after the last collection, " + space.option + "=" +
                        std::to_string(*space.limit)};
    if (space.committed) finding.evidence.front() += ", " + mib_text(*space.committed) + " committed";
    finding.confidence = Confidence::kCertain;
    return finding;
  }
  finding.sentence = space.name + " is full: " + mib_text(*space.committed) + " of " + limit +
                     " are committed, although only " + used + " are in use; the next class loader may get none.";
  finding.evidence = {mib_text(*space.committed) + " committed and " + used + " in use after the last collection, " +
                          space.option + "=" + std::to_string(*space.limit),
                      "each class loader has memory of its own, and others cannot use what it leaves free: many class "
                      "loaders with few classes take much"};
  finding.confidence = may_be_free(facts) ? Confidence::kHint : Confidence::kLikely;
  if (may_be_free(facts))
    finding.evidence.emplace_back(
        "up to JDK 15 memory of class loaders that were unloaded counts too, and can be used");
  return finding;
}

// The counters are written at the end of a collection: it may be more by now.
void judge_space(const Facts& facts, const Space& space, std::vector<Finding>& found) {
  if (!space.used || !space.limit || !(is_near(space) || is_committed(space))) return;
  found.push_back(full_space(facts, space));
}

}  // namespace

void find_full_metaspace(const Facts& facts, std::vector<Finding>& found) {
  if (facts.counters.empty() || !facts.limits) return;
  const CounterFact& now = facts.counters.back();
  const LimitFact& limits = *facts.limits;
  judge_space(facts,
              {"Metaspace", "-XX:MaxMetaspaceSize", now.metaspace_used, now.metaspace_committed, limits.max_metaspace},
              found);
  judge_space(facts,
              {"The class space", "-XX:CompressedClassSpaceSize", now.class_space_used, now.class_space_committed,
               limits.max_class_space},
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

namespace {

bool asks_for_collection(const FrameFact& frame) {
  return frame.method == "java.lang.Runtime.gc" || frame.method == "java.lang.System.gc";
}

// A thread that was seen in System.gc(), and who called it.
struct GcCall {
  std::string thread;
  std::vector<FrameFact> callers;  // innermost first; empty: no thread was seen there
  bool is_of_jdk() const { return !callers.empty() && is_of_the_jdk(callers.front().method); }
  bool is_of(std::string_view prefix) const {
    return !callers.empty() && std::string_view(callers.front().method).starts_with(prefix);
  }
};

// Calls of the program's own code come first: these can be taken out.
GcCall gc_call(const std::vector<ThreadsLook>& looks) {
  GcCall of_jdk;
  for (const ThreadsLook& look : looks)
    for (const ThreadFact& thread : look.threads) {
      const auto is_other = [](const FrameFact& frame) { return !asks_for_collection(frame); };
      const auto call = std::find_if(thread.frames.begin(), thread.frames.end(), asks_for_collection);
      GcCall found{.thread = quoted(thread),
                   .callers = {std::find_if(call, thread.frames.end(), is_other), thread.frames.end()}};
      if (found.callers.empty()) continue;
      if (!found.is_of_jdk()) return found;
      if (of_jdk.callers.empty()) of_jdk = std::move(found);
    }
  return of_jdk;
}

// With the place in the program that made the JDK call it.
std::string place_of(const GcCall& call) {
  const std::string direct = place(call.callers.front()), own = own_place(call.callers);
  return own == direct || !call.is_of_jdk() ? direct : direct + ", for " + own;
}

// Where the JDK itself asks for collections, -XX:+DisableExplicitGC may take away what it relies on: java.nio.Bits
// frees direct memory by them, before an OutOfMemoryError.
std::string advice_against(const GcCall& call, const std::string& target) {
  if (call.callers.empty())
    return "jtrace stack " + target + " --java, for who calls System.gc(), before anything disables it";
  if (call.is_of("java.nio.Bits."))
    return "direct memory is at its limit: release buffers, or raise -XX:MaxDirectMemorySize; not "
           "-XX:+DisableExplicitGC, without these collections it ends in an OutOfMemoryError";
  if (call.is_of("sun.rmi.") || call.is_of("sun.misc.GC"))
    return "RMI asks for them: raise -Dsun.rmi.dgc.client.gcInterval and -Dsun.rmi.dgc.server.gcInterval "
           "(milliseconds)";
  if (call.is_of_jdk()) return "the JDK asks for them: see what needs them at " + place_of(call);
  return "take the call of System.gc() out at " + place_of(call) + "; -XX:+DisableExplicitGC ignores all";
}

bool is_asked(const CounterFact& look) { return look.gc_cause == "System.gc()"; }

// The cause that the first look saw may be of a collection long before: it does not count.
std::size_t looks_asked(const std::vector<CounterFact>& counters) {
  if (counters.empty()) return 0;
  return static_cast<std::size_t>(std::count_if(counters.begin() + 1, counters.end(), is_asked));
}

}  // namespace

void note_explicit_collections(const Facts& facts, Finding& finding) {
  const GcCall call = gc_call(facts.looks);
  if (!call.callers.empty())
    finding.evidence.push_back(call.thread + " was seen in System.gc(), called at " + place_of(call));
  const std::size_t asked = looks_asked(facts.counters);
  if (asked == 0 || !is_asked(facts.counters.back()) || 2 * asked < facts.counters.size() - 1) return;
  finding.evidence.push_back("the cause of the last collection was System.gc() at " + std::to_string(asked) + " of " +
                             counted(facts.counters.size() - 1, "look"));
  finding.next = advice_against(call, facts.target);
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
