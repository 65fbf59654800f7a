// The rules that have no file of their own, on both sides of their boundaries.
#include "diagnose/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CrashRule, NamesSignalAddressThreadAndFrames) {
  Facts facts = facts_of({{.threads = {waiter(1, 2), waiter(2, 1)}, .deadlocks = {{1, 2}}}});
  facts.live = false;
  EXPECT_THAT(found_by(find_crash, facts), IsEmpty());
  facts.crash =
      CrashFact{.signal = "SIGSEGV", .fault = 0x10, .thread = "main", .nid = 7, .frames = {"App.f(App.java:3)"}};
  const auto found = found_by(find_crash, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].sentence,
            "The JVM crashed: SIGSEGV at the address 0x10, in the thread \"main\" with the native id 7.");
  EXPECT_THAT(found[0].evidence, ::testing::ElementsAre("at App.f(App.java:3)"));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_EQ(found[0].next, "jtrace stack 4711");
  // Nothing is more important.
  EXPECT_EQ(rules().front().name, "crash");
}

TEST(StoppedRule, NeedsTheSameStateAtEachLook) {
  Facts facts{.target = "4711"};
  facts.process = {{.ns = 0, .state = 'T'}};
  EXPECT_THAT(found_by(find_stopped, facts), IsEmpty());
  facts.process.push_back({.ns = kSecond, .state = 'S'});
  EXPECT_THAT(found_by(find_stopped, facts), IsEmpty());
  facts.process[1].state = 'T';
  EXPECT_EQ(found_by(find_stopped, facts).at(0).next, "kill -CONT 4711");
  facts.process = {{.state = 't'}, {.state = 't'}};
  EXPECT_THAT(found_by(find_stopped, facts), IsEmpty());  // by this program itself
  facts.process = {{.state = 't', .tracer = "gdb, process 12"}, {.state = 't', .tracer = "gdb, process 12"}};
  EXPECT_THAT(found_by(find_stopped, facts).at(0).sentence, HasSubstr("gdb, process 12"));
}

TEST(StoppedRule, NamesAThreadThatATracerHoldsAtEachLook) {
  ThreadsLook held{.threads = {thread(1)}};
  held.threads[0].held_by = "another tracer, process 12 (gdb)";
  const ThreadsLook free{.threads = {thread(1)}};
  EXPECT_THAT(found_by(find_stopped, facts_of({free, held, held})), IsEmpty());
  EXPECT_THAT(found_by(find_stopped, facts_of({held, held, held})), SizeIs(1));
}

TEST(DescriptorsRule, BeginsAtNineTenthsOfTheLimitAtBothLooks) {
  const auto facts = [](std::uint64_t first, std::uint64_t second) {
    Facts made{.target = "4711"};
    for (const std::uint64_t files : {first, second})
      made.process.push_back({.state = 'S', .files = files, .files_limit = 1000});
    return made;
  };
  EXPECT_THAT(found_by(find_many_files, facts(899, 950)), IsEmpty());
  EXPECT_THAT(found_by(find_many_files, facts(950, 899)), IsEmpty());
  EXPECT_THAT(found_by(find_many_files, facts(900, 901)).at(0).sentence, HasSubstr("901 of 1000"));
  Facts unlimited = facts(900, 901);
  for (auto& each : unlimited.process) each.files_limit.reset();
  EXPECT_THAT(found_by(find_many_files, unlimited), IsEmpty());
}

Facts collecting(double share, double full, double used) {
  Facts facts{.target = "4711"};
  facts.counters = {{.ns = 0, .gc_seconds = 5, .full_collections = 3, .old_used = 10, .old_max = 1000},
                    {.ns = 2 * kSecond,
                     .gc_seconds = 5 + 2 * share,
                     .full_collections = 3 + full,
                     .old_used = used,
                     .old_max = 1000}};
  return facts;
}

TEST(HeapFullRule, NeedsFullCollectionsMostOfTheTimeAndAFullOldGeneration) {
  EXPECT_THAT(found_by(find_full_heap, collecting(0.51, 2, 901)), SizeIs(1));
  EXPECT_THAT(found_by(find_full_heap, collecting(0.51, 1, 901)), IsEmpty());
  EXPECT_THAT(found_by(find_full_heap, collecting(0.51, 2, 899)), IsEmpty());
  Facts other_collector = collecting(0.51, 2, 901);
  other_collector.counters[1].full_collections.reset();
  EXPECT_THAT(found_by(find_full_heap, other_collector), IsEmpty());
}

// On a busy machine the collector, or the program, waits for a processor.
TEST(HeapFullRule, HoldsWhateverTheTimeIfCollectionsLeaveTheOldGenerationFull) {
  Facts facts = collecting(0.1, 2, 901);
  const auto found = found_by(find_full_heap, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].sentence, HasSubstr("2 full collections left 90 % of the old generation in use"));
  // One of them had freed much.
  facts.counters.insert(facts.counters.begin() + 1, facts.counters[1]);
  facts.counters[1].ns = kSecond;
  facts.counters[1].full_collections = 4;
  facts.counters[1].old_used = 500;
  EXPECT_THAT(found_by(find_full_heap, facts), IsEmpty());
}

TEST(DirectMemoryRule, BeginsAtNineTenthsOfTheLimit) {
  Facts facts;
  EXPECT_THAT(found_by(find_full_direct_memory, facts), IsEmpty());
  facts.direct = DirectFact{.reserved = 899, .count = 1, .limit = 1000};
  EXPECT_THAT(found_by(find_full_direct_memory, facts), IsEmpty());
  facts.direct->reserved = 900;
  EXPECT_THAT(found_by(find_full_direct_memory, facts), SizeIs(1));
  facts.direct->limit.reset();
  EXPECT_THAT(found_by(find_full_direct_memory, facts), IsEmpty());
}

Facts finalizing(const std::string& outer) {
  ThreadFact fact = thread(3);
  fact.name = "Finalizer";
  fact.frames.push_back({outer, "Finalizer.java:90", 4});
  const ThreadsLook look{.threads = {fact}};
  return facts_of({look, look, look});
}

TEST(FinalizerRule, NeedsOneFinalizeForLong) {
  const std::string runs = "java.lang.ref.Finalizer.runFinalizer";
  EXPECT_THAT(found_by(find_stuck_finalizer, finalizing(runs)), SizeIs(1));
  EXPECT_THAT(found_by(find_stuck_finalizer, finalizing("java.lang.ref.ReferenceQueue.remove")), IsEmpty());
  Facts moved = finalizing(runs);
  moved.looks[1].threads[0].frames[0].bci = 9;
  EXPECT_THAT(found_by(find_stuck_finalizer, moved), IsEmpty());
  Facts brief = finalizing(runs);
  brief.looks[2].ns = brief.looks[0].ns + kSecond;
  EXPECT_THAT(found_by(find_stuck_finalizer, brief), IsEmpty());
  const auto rule =
      std::find_if(rules().begin(), rules().end(), [](const Rule& each) { return each.name == "finalizer"; });
  EXPECT_THAT(std::string(rule->unasked(brief)), HasSubstr("less than 1.5 s")) << "silence would read as health";
  EXPECT_EQ(rule->unasked(finalizing(runs)), "");
  Facts other = finalizing(runs);
  for (auto& look : other.looks) look.threads[0].name = "main";
  EXPECT_THAT(found_by(find_stuck_finalizer, other), IsEmpty());
}

Facts locked(std::initializer_list<bool> wanted, double collections) {
  Facts facts{.target = "4711"};
  for (const bool each : wanted) {
    SafepointFact look{.state = SafepointFact::State::kNone, .ns = (facts.safepoints.size() + 1) * kSecond};
    look.locker_wanted = each;
    look.locker_regions = 2;
    facts.safepoints.push_back(look);
  }
  facts.counters = {{.ns = 1, .collections = 7}, {.ns = 2, .collections = collections}};
  return facts;
}

TEST(GcLockerRule, NeedsTheWishAtEachLookAndNoCollectionInBetween) {
  EXPECT_THAT(found_by(find_kept_gc_locker, locked({true, false}, 7)), IsEmpty());
  EXPECT_THAT(found_by(find_kept_gc_locker, locked({true}, 7)), IsEmpty());
  EXPECT_THAT(found_by(find_kept_gc_locker, locked({true, true}, 8)), IsEmpty());
  const auto found = found_by(find_kept_gc_locker, locked({true, true}, 7));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].evidence, testing::Contains(HasSubstr("2 threads in JNI critical regions")));
}

TEST(GcLockerRule, IsNotExaminedWithoutSymbols) {
  Facts facts = locked({true, true}, 7);
  facts.safepoints[0].locker_wanted.reset();
  EXPECT_THAT(found_by(find_kept_gc_locker, facts), IsEmpty());
  const auto rule = std::find_if(rules().begin(), rules().end(), [](auto& each) { return each.name == "gc-locker"; });
  ASSERT_NE(rule, rules().end());
  EXPECT_THAT(std::string(rule->unasked(facts)), HasSubstr("no symbols"));
}

}  // namespace
}  // namespace jtrace::diagnose
