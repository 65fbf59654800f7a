// Rules about threads of the VM that use processors: the collector's, the compilers, the VM Thread and others.
#include <algorithm>

#include "base/joined.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "diagnose/cpu_share.h"
#include "diagnose/rules.h"
#include "diagnose/vm_threads.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

constexpr double kRan = 0.05;  // of the time on a processor

bool is_said(const std::vector<Finding>& found, std::initializer_list<std::string_view> rules) {
  return std::any_of(found.begin(), found.end(), [&](const Finding& each) {
    return std::find(rules.begin(), rules.end(), each.rule) != rules.end();
  });
}

// The processor time between two samples.
struct Use {
  double all = 0;        // processors that all threads used
  double collector = 0;  // of these, the threads of the collector
  double wanted = 0;     // that the threads of the collector used, or were ready to
};
Use use_between(const ThreadsLook& before, const ThreadsLook& now) {
  Use use;
  for (const ThreadFact& each : now.threads) {
    const auto share = share_of_thread(before, now, each.tid);
    if (!share) continue;
    use.all += share->ran;
    if (vm_thread_named(each.name).work != VmWork::kCollector) continue;
    use.collector += share->ran;
    use.wanted += share->wanted();
  }
  return use;
}

// Its share at each gap between two samples; nothing if it wanted less than `least` in one of them.
std::optional<double> busy_in_all(const Facts& facts, const ThreadFact& thread, double least = kWholeProcessor) {
  double ran = 0;
  for (std::size_t i = 1; i < facts.looks.size(); ++i) {
    const auto share = share_of_thread(facts.looks[i - 1], facts.looks[i], thread.tid);
    if (!share || share->wanted() < least || share->ran < kRan) return std::nullopt;
    ran += share->ran;
  }
  return ran / static_cast<double>(facts.looks.size() - 1);
}

double span_of(const Facts& facts) { return static_cast<double>(facts.looks.back().ns - facts.looks.front().ns) / 1e9; }

// The share of the time in which collections ran at a safepoint: that work of the VM Thread has rules of its own.
double collecting(const Facts& facts) {
  if (facts.counters.size() < 2) return 0;
  const CounterFact& before = facts.counters.front();
  const CounterFact& now = facts.counters.back();
  if (!before.gc_seconds || !now.gc_seconds || now.ns <= before.ns) return 0;
  return (*now.gc_seconds - *before.gc_seconds) * 1e9 / static_cast<double>(now.ns - before.ns);
}

std::string safepoints_of(const Facts& facts) {
  if (facts.counters.size() < 2 || !facts.counters.front().safepoints || !facts.counters.back().safepoints) return "";
  const CounterFact& before = facts.counters.front();
  const CounterFact& now = facts.counters.back();
  return counted(static_cast<long>(*now.safepoints - *before.safepoints), "safepoint") + " in " +
         seconds(static_cast<double>(now.ns - before.ns) / 1e9);
}

std::string operations_of(const OperationsFact& operations) {
  std::vector<std::string> seen;
  for (const auto& [name, count] : operations.seen) seen.push_back(name + " " + std::to_string(count));
  if (seen.empty()) return "";
  return "VM operations at " + counted(operations.looks, "look") + ": " + joined(seen);
}

void judge_vm_thread(const Facts& facts, double ran, std::vector<Finding>& found) {
  constexpr double kMuch = 0.5;  // of a processor, beside collections
  if (is_said(found, {"safepoint", "handshake", "vm-operation", "gc-time", "heap-full"})) return;
  if (ran - collecting(facts) < std::min(kMuch, ran / 2)) return;
  Finding finding{
      .rule = "vm-thread",
      .sentence =
          "The VM Thread has no rest: one VM operation follows the other, and each stops the Java "
          "threads.",
      .evidence = {"on a processor " + percent(ran) + " of the time, and ready to run for most of the rest"},
      .confidence = Confidence::kLikely,
      .next = "jtrace stack " + facts.target + ", for the threads that ask for them"};
  for (const std::string& line : {safepoints_of(facts), operations_of(facts.operations)})
    if (!line.empty()) finding.evidence.push_back(line);
  found.push_back(std::move(finding));
}

}  // namespace

void find_busy_collector(const Facts& facts, std::vector<Finding>& found) {
  constexpr double kHalf = 0.5, kMost = 0.75;  // of the processor time
  if (facts.looks.size() < 3 || stands_still(facts) || is_said(found, {"heap-full", "gc-time"})) return;
  Use whole;
  double least = 1;
  for (std::size_t i = 1; i < facts.looks.size(); ++i) {
    const Use use = use_between(facts.looks[i - 1], facts.looks[i]);
    if (use.all <= 0 || use.wanted < kWholeProcessor) return;
    least = std::min(least, use.collector / use.all);
    whole.all += use.all / static_cast<double>(facts.looks.size() - 1);
    whole.collector += use.collector / static_cast<double>(facts.looks.size() - 1);
  }
  if (least < kHalf) return;
  char use[96];
  std::snprintf(use, sizeof use, "its threads used %.1f of the %.1f processors that all threads used", whole.collector,
                whole.all);
  Finding finding{.rule = "gc-cpu",
                  .sentence = "The collector uses " + percent(whole.collector / whole.all) +
                              " of the JVM's processor time: it collects all the time, beside the program.",
                  .evidence = {std::string(use) + ", between each two of " + counted(facts.looks.size(), "look")},
                  .confidence = least >= kMost ? Confidence::kLikely : Confidence::kHint,
                  .next = "a larger heap, or fewer objects that live: jtrace inspect " + facts.target + " retained"};
  note_explicit_collections(facts, finding);
  found.push_back(std::move(finding));
}

void find_long_compilations(const Facts& facts, std::vector<Finding>& found) {
  constexpr double kLong = 3;  // seconds on a processor; large methods take one or two
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  for (const ThreadFact& each : facts.looks.back().threads) {
    if (each.compile_id == 0) continue;
    const bool same = std::all_of(facts.looks.begin(), facts.looks.end(), [&](const ThreadsLook& look) {
      const ThreadFact* then = look.find_tid(each.tid);
      return then && then->compile_id == each.compile_id;
    });
    const auto ran = same ? busy_in_all(facts, each) : std::nullopt;
    if (!ran) continue;
    found.push_back(
        {.rule = "compiler",
         .sentence = "The compiler thread " + quoted(each.name) + " has been at one method for " +
                     seconds(span_of(facts)) + " or longer: " + printable(each.compiles) + ".",
         .evidence = {"compilation " + std::to_string(each.compile_id) + " at " + counted(facts.looks.size(), "look") +
                      ", on a processor " + percent(*ran) + " of the time"},
         .confidence = *ran * span_of(facts) >= kLong ? Confidence::kLikely : Confidence::kHint,
         .next = "if it does not end: -XX:CompileCommand=exclude," + printable(each.compiles)});
  }
}

void find_busy_vm_threads(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.size() < 3 || stands_still(facts)) return;
  for (const ThreadFact& each : facts.looks.back().threads) {
    const VmThread thread = vm_thread_named(each.name);
    if (thread.work != VmWork::kOperations && thread.work != VmWork::kOther) continue;
    const double least = thread.work == VmWork::kOperations ? kMostOfProcessor : kWholeProcessor;
    const auto ran = each.frames.empty() ? busy_in_all(facts, each, least) : std::nullopt;
    if (!ran) continue;
    if (thread.work == VmWork::kOperations) {
      judge_vm_thread(facts, *ran, found);
      continue;
    }
    found.push_back({.rule = "vm-thread",
                     .sentence = "The VM's thread " + quoted(each.name) + " runs without a pause. It " +
                                 std::string(thread.does) + ".",
                     .evidence = {"on a processor " + percent(*ran) + " of the time, and ready to run for the rest"},
                     .confidence = Confidence::kLikely,
                     .next = "jtrace stack " + facts.target + " --thread " + shell_word(printable(each.name))});
  }
}

}  // namespace jtrace::diagnose
