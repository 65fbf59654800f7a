// The verdict on facts as a whole.
#include "diagnose/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/rules.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Of a healthy JVM.
Collected all_collected() {
  Collected collected;
  collected.facts.target = "4711";
  collected.facts.looks.resize(3);
  collected.facts.looks.back().ns = kHeldLong;
  collected.facts.safepoints.resize(2, {.state = SafepointFact::State::kNone, .locker_wanted = false});
  collected.facts.process.resize(2, {.state = 'S'});
  collected.facts.counters.resize(2, {.uptime = 60});
  collected.facts.direct_read = true;
  collected.facts.limits.emplace();
  collected.facts.malloc.emplace();
  collected.facts.stalls.emplace();
  collected.facts.mutexes.resize(2);
  collected.facts.groups.resize(2, {.visible = true});
  collected.facts.disks.emplace();
  collected.facts.sockets.resize(2);
  return collected;
}

TEST(Verdict, OfNothingSaysWhatWasLookedAt) {
  const Collected collected = all_collected();
  const Verdict verdict = judge(collected.facts);
  EXPECT_FALSE(verdict.is_found());
  EXPECT_THAT(verdict.unasked, IsEmpty());
  EXPECT_THAT(verdict.findings, IsEmpty());
  const std::string text = text_of(verdict, collected);
  EXPECT_THAT(text, StartsWith("Nothing found.\n"));
  EXPECT_THAT(text, HasSubstr("Looked for: deadlocks, "));
  EXPECT_THAT(text, HasSubstr(" more kinds of trouble (--format json names all).\nNot looked for: memory that leaks "
                              "(jtrace inspect 4711 leaks --duration 1m), slow calls (jtrace slow 4711).\n"));
}

TEST(Verdict, IsWholeWithoutWhatNotAllJvmsTell) {
  Collected collected = all_collected();
  for (SafepointFact& each : collected.facts.safepoints) each.locker_wanted.reset();
  const Verdict verdict = judge(collected.facts);
  ASSERT_EQ(verdict.unasked.size(), 1u);
  EXPECT_FALSE(is_partial(verdict, collected));
  const std::string all = std::to_string(verdict.asked.size() + 1);
  EXPECT_THAT(text_of(verdict, collected), StartsWith("Nothing found. " + std::to_string(verdict.asked.size()) +
                                                      " of " + all + " rules looked; skipped: "));
  EXPECT_THAT(text_of(verdict, collected), HasSubstr("libjvm.so has no symbols for the GC locker"));
}

TEST(Verdict, OfAProcessThatEndedSaysSoFirstAndGivesNoOtherReason) {
  Collected collected = all_collected();
  collected.facts.ended = true;
  collected.facts.safepoints.clear();
  collected.facts.counters.resize(1);
  const Verdict verdict = judge(collected.facts);
  EXPECT_TRUE(is_partial(verdict, collected));
  ASSERT_GT(verdict.unasked.size(), 3u);
  for (const Unasked& each : verdict.unasked) EXPECT_EQ(each.why, kEnded) << each.about;
  const std::string text = text_of(verdict, collected);
  EXPECT_THAT(text,
              StartsWith("The process ended while it was looked at: what follows was read before.\nNothing found. "));
  EXPECT_THAT(text, Not(HasSubstr("libjvm.so has no symbols")));
  EXPECT_THAT(text, HasSubstr("  the process ended before: safepoints that are not reached"));
}

TEST(Verdict, WithAFindingIsShortAboutTheRest) {
  const Collected collected = all_collected();
  Verdict verdict = judge(collected.facts);
  ASSERT_GT(verdict.asked.size(), 10u);
  verdict.findings.push_back({.rule = "deadlock", .sentence = "Deadlock.", .confidence = Confidence::kCertain});
  EXPECT_THAT(text_of(verdict, collected),
              HasSubstr(verdict.asked[3] + " and " + std::to_string(verdict.asked.size() - 4) +
                        " more kinds of trouble (--format json names all).\n"));
}

TEST(Verdict, SaysThatAYoungJvmMayCollectOften) {
  Collected collected = all_collected();
  collected.facts.counters.back().uptime = 12;
  const Verdict verdict = judge(collected.facts);
  ASSERT_EQ(verdict.unasked.size(), 1u);
  EXPECT_FALSE(is_partial(verdict, collected));
  EXPECT_THAT(text_of(verdict, collected), HasSubstr("less than 20 s ago"));
}

TEST(Verdict, NamesWhatWasNotLookedAt) {
  Collected collected;
  collected.steps = {{.name = "opening the JVM", .problem = "not permitted"}};
  const Verdict verdict = judge(collected.facts);
  EXPECT_TRUE(is_partial(verdict, collected));
  EXPECT_THAT(text_of(verdict, collected), HasSubstr(" more.\n"));
  EXPECT_THAT(text_of(verdict, collected), HasSubstr("Skipped, and why:\n  deadlocks: the threads were not read\n"));
  collected.steps.push_back({.name = "threads", .problem = "no answer"});
  collected.steps.push_back({.name = "safepoint", .problem = "no answer"});
  EXPECT_THAT(text_of(verdict, collected),
              HasSubstr("  opening the JVM: not permitted\n  threads; safepoint: no answer\n"));
}

Collected all_of_core() {
  Collected collected;
  collected.facts.live = false;
  collected.facts.looks.resize(1);
  collected.facts.safepoints.resize(1, {.state = SafepointFact::State::kNone});
  collected.facts.direct_read = true;
  collected.facts.limits.emplace();
  collected.facts.malloc.emplace();
  collected.facts.mutexes.resize(1);
  return collected;
}

TEST(Verdict, OfACoreIsWholeWithoutWhatOnlyALiveJvmHas) {
  const Collected collected = all_of_core();
  const Verdict verdict = judge(collected.facts);
  EXPECT_FALSE(is_partial(verdict, collected));
  const std::string text = text_of(verdict, collected);
  EXPECT_THAT(text, StartsWith("Nothing found by the " + std::to_string(verdict.asked.size()) + " of " +
                               std::to_string(verdict.asked.size() + verdict.unasked.size()) +
                               " rules that a core can answer.\n"));
  EXPECT_THAT(text, HasSubstr("\n  a core does not run: a stopped process, handshakes"));
}

TEST(Verdict, OfACoreOfWhichAPartIsMissingIsPartial) {
  Collected collected = all_of_core();
  collected.missing = {"the VM operation is not known"};
  EXPECT_FALSE(is_partial(judge(collected.facts), collected)) << "no core of this JVM has it";
  collected.missing = {"the core is truncated"};
  collected.target_incomplete = true;
  const Verdict verdict = judge(collected.facts);
  EXPECT_TRUE(is_partial(verdict, collected));
  const std::string text = text_of(verdict, collected);
  EXPECT_THAT(text, HasSubstr(" rules that a core can answer, and a part of this one could not be read.\n"));
  EXPECT_THAT(text, HasSubstr("\n  the core is truncated\n"));
}

TEST(Verdict, OfACoreWithoutThreadsIsPartial) {
  Collected collected = all_of_core();
  collected.facts.looks.clear();
  const Verdict verdict = judge(collected.facts);
  EXPECT_TRUE(is_partial(verdict, collected));
  EXPECT_THAT(text_of(verdict, collected), HasSubstr("  deadlocks: the threads were not read\n"));
}

TEST(Verdict, SaysWhatItCostAndWhatItMightHave) {
  Collected collected = all_collected();
  collected.elapsed = std::chrono::milliseconds(2100);
  collected.bytes_read = 12 << 20;
  collected.stops = 3;
  collected.pause_longest = std::chrono::milliseconds(4);
  collected.limits = {.time = std::chrono::milliseconds(5000), .stop = std::chrono::milliseconds(10)};
  const std::string text = text_of(judge(collected.facts), collected);
  EXPECT_THAT(text, HasSubstr("It took 2.1 s of 5.0, and 12.0 MiB of its memory were read. "));
  EXPECT_THAT(text, Not(HasSubstr("--max-stop")));
  collected.pause_longest = std::chrono::milliseconds(11);
  EXPECT_THAT(text_of(judge(collected.facts), collected), HasSubstr("longer than --max-stop (10 ms)"));
}

TEST(Verdict, PutsHintsLast) {
  Verdict verdict;
  for (int i = 1; i <= 4; ++i)
    verdict.findings.push_back({.rule = "r", .sentence = "S" + std::to_string(i), .confidence = Confidence::kLikely});
  const std::string text = text_of(verdict, {});
  EXPECT_THAT(text, StartsWith("Found: 4 troubles.\n"));
  EXPECT_LT(text.find("3. S3"), text.find("Below these:"));
  EXPECT_GT(text.find("4. S4"), text.find("Below these:"));
  const Verdict hint{.findings = {{.rule = "r", .confidence = Confidence::kHint}}};
  EXPECT_FALSE(hint.is_found());
  EXPECT_THAT(text_of(hint, {}), StartsWith("Found: 1 hint (r), no certain or likely trouble.\n"));
}

TEST(Verdict, WithHintsAloneNamesTheirSubjects) {
  const auto hint = [](const char* rule) { return Finding{.rule = rule, .confidence = Confidence::kHint}; };
  Verdict verdict{.findings = {hint("spinning"), hint("pinned"), hint("spinning")}};
  EXPECT_THAT(text_of(verdict, {}),
              StartsWith("Found: 3 hints (threads that spin, carriers that are kept by virtual threads), no certain or "
                         "likely trouble.\n"));
  for (const char* rule : {"network", "processors", "attach-off"}) verdict.findings.push_back(hint(rule));
  EXPECT_THAT(text_of(verdict, {}), HasSubstr("threads that wait for the network and 2 more), no certain"));
  verdict.of_core = true;
  EXPECT_THAT(text_of(verdict, {}), HasSubstr(" and 2 more), no certain or likely trouble by the 0 of "));
  verdict.findings.push_back({.rule = "pool", .confidence = Confidence::kLikely});
  EXPECT_THAT(text_of(verdict, {}), StartsWith("Found: 1 trouble, 6 hints.\n"));
}

}  // namespace
}  // namespace jtrace::diagnose
