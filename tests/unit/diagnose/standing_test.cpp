// Where the largest group of waiting threads stands, on both sides of its boundaries; and when a verdict has it.
#include "diagnose/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/verdict.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kPark = "java.util.concurrent.locks.LockSupport.park";

// Parked below `method`, as it was at a look after `waits` waits of its own.
ThreadFact parked(ThreadKey key, const char* method, std::uint64_t waits = 0) {
  ThreadFact fact = thread(key);
  fact.state = "WAITING";
  fact.frames = {{kPark, "LockSupport.java:1", 1}, {method, "App.java:33", 5}, {"App.run", "App.java:9", 1}};
  fact.waits = waits;
  fact.slept = true;
  fact.asleep_ns = 20 * kSecond;
  fact.wait = WaitFact{.kind = "park", .object = 0x40, .class_name = "Condition"};
  return fact;
}

// Three looks at so many threads below App.borrow, and one elsewhere. Each stop makes them wait once more.
Facts crowd(ThreadKey count, std::uint64_t waits = 0) {
  std::vector<ThreadsLook> looks(3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (ThreadKey key = 1; key <= count; ++key) looks[i].threads.push_back(parked(key, "App.borrow", i * (2 + waits)));
    looks[i].threads.push_back(parked(99, "App.print", 2 * i));
  }
  return facts_of(std::move(looks));
}

void change_all(Facts& facts, void (*change)(ThreadFact&)) {
  for (ThreadsLook& look : facts.looks)
    for (ThreadFact& each : look.threads) change(each);
}

TEST(Standing, NamesTheMethodOfTheLargestGroup) {
  const auto found = find_standing(crowd(12));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->method, "App.borrow");
  EXPECT_EQ(found->threads, 12u);
  EXPECT_EQ(found->waiting, 13u);
  EXPECT_THAT(found->sentence, StartsWith("12 of 13 waiting threads stand in App.borrow. "));
  EXPECT_THAT(found->evidence,
              ElementsAre("\"t1\", \"t2\", \"t3\" and 9 more, at App.borrow(App.java:33), at 3 looks over 2.0 s",
                          "all of them wait for <0x40> (a Condition)",
                          "each of them was in one wait all the time, for at least 22.0 s"));
  EXPECT_EQ(found->next, "jtrace stack 4711 --java --group");
}

TEST(Standing, NeedsTenThreadsThatWaitThereAtAllLooks) {
  EXPECT_FALSE(find_standing(Facts()));
  EXPECT_FALSE(find_standing(crowd(9)));
  EXPECT_TRUE(find_standing(crowd(10)));
  Facts gone = crowd(10);
  gone.looks[1].threads[3].frames[1].method = "App.answer";
  EXPECT_FALSE(find_standing(gone));
  Facts ran = crowd(10);
  ran.looks[0].threads[3].state = "RUNNABLE";
  EXPECT_FALSE(find_standing(ran));
}

TEST(Standing, IsNotOfThreadsWithoutATaskOrWithoutTheProgram) {
  Facts idle = crowd(12);
  change_all(idle, [](ThreadFact& each) { each.wait->without_task = true; });
  EXPECT_FALSE(find_standing(idle));
  Facts of_jdk = crowd(12);
  change_all(of_jdk, [](ThreadFact& each) { each.frames.resize(1); });
  EXPECT_FALSE(find_standing(of_jdk));
  Facts of_vm = crowd(12);
  change_all(of_vm, [](ThreadFact& each) { each.key = 0; });
  EXPECT_FALSE(find_standing(of_vm));
}

TEST(Standing, HasReadersOfSockets) {
  Facts facts = crowd(12);
  change_all(facts, [](ThreadFact& each) {
    each.wait.reset();
    each.state = "RUNNABLE";
    each.frames[0].method = "sun.nio.ch.NioSocketImpl.implRead";
  });
  ASSERT_TRUE(find_standing(facts));
  change_all(facts, [](ThreadFact& each) { each.frames[0].method = "java.util.HashMap.get"; });
  EXPECT_FALSE(find_standing(facts));
}

TEST(Standing, SaysOnlyWhatIsSoOfAll) {
  Facts facts = crowd(12);
  facts.looks[2].threads[4].frames[1].source = "App.java:40";
  facts.looks[2].threads[4].wait->object = 0x80;
  facts.looks[2].threads[4].waits = 50;
  EXPECT_THAT(find_standing(facts)->evidence,
              ElementsAre("\"t1\", \"t2\", \"t3\" and 9 more, at App.borrow, at 3 looks over 2.0 s",
                          "11 of them were in one wait all the time"));
  EXPECT_EQ(find_standing(crowd(12, 5))->evidence.back(), "none of them were in one wait all the time");
  change_all(facts, [](ThreadFact& each) { each.waits.reset(); });
  EXPECT_EQ(find_standing(facts)->evidence.size(), 1u);
}

TEST(Standing, OfACoreHasNoTimes) {
  Facts core = crowd(12);
  core.live = false;
  core.looks.resize(1);
  EXPECT_THAT(find_standing(core)->evidence,
              ElementsAre("\"t1\", \"t2\", \"t3\" and 9 more, at App.borrow(App.java:33)",
                          "all of them wait for <0x40> (a Condition)"));
}

TEST(Standing, LeadsOnWhereNothingElseDoes) {
  Collected collected;
  collected.facts = crowd(12);
  const Verdict verdict = judge(collected.facts);
  EXPECT_FALSE(verdict.is_found());
  const std::string text = text_of(verdict, collected);
  EXPECT_THAT(text, StartsWith("Nothing found."));
  EXPECT_THAT(text,
              HasSubstr("\n\n12 of 13 waiting threads stand in App.borrow. Threads without work wait so too: it is "
                        "no finding.\n     \"t1\", "));
  EXPECT_THAT(text, HasSubstr("\n   next: jtrace stack 4711 --java --group\n\nLooked for: "));
  std::string json;
  write_members(json, verdict, collected);
  EXPECT_THAT(json, HasSubstr("\"standing\":{\"method\":\"App.borrow\",\"threads\":12,\"waiting\":13,\"sentence\":"));

  for (ThreadsLook& look : collected.facts.looks) {
    look.threads.push_back(waiter(201, 202));
    look.threads.push_back(waiter(202, 201));
    look.deadlocks = {{201, 202}};
  }
  const Verdict found = judge(collected.facts);
  EXPECT_TRUE(found.is_found());
  EXPECT_FALSE(found.standing);
  json.clear();
  write_members(json, found, collected);
  EXPECT_THAT(json, Not(HasSubstr("standing")));
}

// That the machine is busy does not say where the threads stand; a hint about the same threads does.
TEST(Standing, GivesWayOnlyToWhatSaysTheSame) {
  Facts facts = crowd(12);
  for (std::size_t i = 0; i < 3; ++i) {
    ThreadFact busy = thread(300);
    busy.ran_ns = i * kSecond / 20;
    busy.queued_ns = i * kSecond * 95 / 100;
    busy.measured_ns = i * kSecond;
    facts.looks[i].threads.push_back(busy);
  }
  const Verdict verdict = judge(facts);
  ASSERT_EQ(verdict.findings.at(0).rule, "processors");
  EXPECT_TRUE(verdict.is_found());
  EXPECT_TRUE(verdict.standing);

  Facts readers = crowd(12);
  change_all(readers, [](ThreadFact& each) {
    each.wait.reset();
    each.state = "RUNNABLE";
    each.frames[0].method = "sun.nio.ch.NioSocketImpl.implRead";
  });
  const Verdict hint = judge(readers);
  ASSERT_EQ(hint.findings.at(0).rule, "network");
  EXPECT_FALSE(hint.standing);
}

}  // namespace
}  // namespace jtrace::diagnose
