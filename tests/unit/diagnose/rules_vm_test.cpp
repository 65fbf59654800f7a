// The rules about threads of the VM, handshakes, the number of threads, malloc and the swap, on both sides of their
// boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/collectors.h"
#include "diagnose/rules.h"
#include "diagnose/vm_threads.h"
#include "tests/unit/diagnose/found_by.h"

namespace jtrace::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Facts with_handshakes(std::initializer_list<HandshakeFact> looks) {
  Facts facts{.target = "4711", .feature = 25};
  for (const HandshakeFact& each : looks) {
    SafepointFact look{.ns = (facts.safepoints.size() + 1) * 2 * kSecond};
    look.handshakes.emplace({each});
    facts.safepoints.push_back(look);
  }
  return facts;
}

const HandshakeFact kHandshake{.number = 0x7f10,
                               .name = "GetStackTrace",
                               .requester = "asker",
                               .since = 0.4,
                               .late = {{.key = 7, .name = "loop", .why = "runs Java code"}}};

TEST(HandshakeRule, NeedsTheSameHandshakeForASecond) {
  HandshakeFact other = kHandshake;
  other.number = 0x7f20;
  EXPECT_THAT(found_by(find_late_handshake, with_handshakes({kHandshake})), IsEmpty());
  EXPECT_THAT(found_by(find_late_handshake, with_handshakes({other, kHandshake})), IsEmpty());
  Facts facts = with_handshakes({kHandshake, kHandshake});
  const auto found = found_by(find_late_handshake, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_THAT(found[0].sentence, AllOf(HasSubstr("\"asker\" waits"), HasSubstr("\"loop\" does not come")));
  EXPECT_THAT(found[0].evidence[0], HasSubstr("for at least 2.4 s"));
  facts.safepoints[1].ns = facts.safepoints[0].ns + kSecond / 2;
  EXPECT_THAT(found_by(find_late_handshake, facts), IsEmpty());
}

TEST(HandshakeRule, NeedsAThreadThatIsLateAtBothLooks) {
  HandshakeFact other = kHandshake;
  other.late[0].key = 8;
  EXPECT_THAT(found_by(find_late_handshake, with_handshakes({other, kHandshake})), IsEmpty());
}

TEST(HandshakeRule, IsNotExaminedWhereTheJvmDoesNotTell) {
  const auto rule = std::find_if(rules().begin(), rules().end(), [](auto& each) { return each.name == "handshake"; });
  ASSERT_NE(rule, rules().end());
  Facts facts = with_handshakes({kHandshake, kHandshake});
  EXPECT_EQ(rule->unasked(facts), "");
  facts.safepoints.back().handshakes.reset();
  EXPECT_THAT(std::string(rule->unasked(facts)), HasSubstr("no symbols"));
  EXPECT_TRUE(rule->not_all_tell);
  facts.feature = 11;  // has none that threads wait for
  EXPECT_EQ(rule->unasked(facts), "");
}

struct Busy {
  const char* name;
  double ran, queued = 0;
};
// Three samples, a second apart, of threads that ran for so much of each second.
Facts busy_threads(const std::vector<Busy>& threads) {
  Facts facts{.target = "4711"};
  for (std::uint64_t i = 0; i < 3; ++i) {
    ThreadsLook look{.ns = i * kSecond};
    for (const Busy& each : threads) {
      ThreadFact fact{.name = each.name, .tid = static_cast<pid_t>(100 + look.threads.size())};
      fact.ran_ns = static_cast<std::uint64_t>(each.ran * static_cast<double>(i * kSecond));
      fact.queued_ns = static_cast<std::uint64_t>(each.queued * static_cast<double>(i * kSecond));
      fact.measured_ns = i * kSecond;
      look.threads.push_back(fact);
    }
    facts.looks.push_back(look);
  }
  return facts;
}

TEST(CollectorRule, NeedsAWholeProcessorAndMostOfTheTime) {
  EXPECT_THAT(found_by(find_busy_collector, busy_threads({{"main", 0.1}, {"ZWorker#0", 0.8}})), IsEmpty());
  EXPECT_THAT(found_by(find_busy_collector, busy_threads({{"main", 1.1}, {"ZWorker#0", 1}})), IsEmpty());
  const auto half = found_by(find_busy_collector, busy_threads({{"main", 0.9}, {"ZWorker#0", 1}}));
  ASSERT_THAT(half, SizeIs(1));
  EXPECT_EQ(half[0].confidence, Confidence::kHint);
  const auto most = found_by(find_busy_collector, busy_threads({{"main", 0.3}, {"ZWorker#0", 0.5}, {"ZDriver", 0.5}}));
  ASSERT_THAT(most, SizeIs(1));
  EXPECT_EQ(most[0].confidence, Confidence::kLikely);
  EXPECT_THAT(most[0].sentence, HasSubstr("77 % of the JVM's processor time"));
}

TEST(CollectorRule, LeavesPausesToTheRulesForThem) {
  const Facts facts = busy_threads({{"main", 0.1}, {"GC Thread#0", 1}});
  EXPECT_THAT(found_by(find_busy_collector, facts, {{.rule = "gc-time"}}), IsEmpty());
  EXPECT_THAT(found_by(find_busy_collector, facts), SizeIs(1));
}

TEST(CompilerRule, NeedsOneCompilationAtAllLooks) {
  const auto compiling = [](int first, int last, double ran) {
    Facts facts = busy_threads({{"C2 CompilerThread0", ran, 1 - ran}});
    for (std::size_t i = 0; i < 3; ++i) {
      facts.looks[i].threads[0].compile_id = i < 2 ? first : last;
      facts.looks[i].threads[0].compiles = "com.example.Huge::parse";
    }
    return facts;
  };
  EXPECT_THAT(found_by(find_long_compilations, compiling(7, 8, 1)), IsEmpty());
  EXPECT_THAT(found_by(find_long_compilations, compiling(0, 0, 1)), IsEmpty());
  EXPECT_THAT(found_by(find_long_compilations, compiling(7, 7, 0.04)), IsEmpty());
  const auto brief = found_by(find_long_compilations, compiling(7, 7, 1));
  ASSERT_THAT(brief, SizeIs(1));
  EXPECT_EQ(brief[0].confidence, Confidence::kHint);
  EXPECT_THAT(brief[0].sentence, HasSubstr("com.example.Huge::parse"));
  Facts facts = compiling(7, 7, 1);
  for (ThreadsLook& look : facts.looks) look.ns *= 2;
  EXPECT_EQ(found_by(find_long_compilations, facts).at(0).confidence, Confidence::kLikely);
}

TEST(VmThreadRule, NeedsAThreadThatNeverWaits) {
  EXPECT_THAT(found_by(find_busy_vm_threads, busy_threads({{"VM Thread", 0.69}})), IsEmpty());
  EXPECT_THAT(found_by(find_busy_vm_threads, busy_threads({{"Service Thread", 0.8}})), IsEmpty());
  EXPECT_THAT(found_by(find_busy_vm_threads, busy_threads({{"native-1", 1}, {"C2 CompilerThre", 1}, {"G1 Conc#0", 1}})),
              IsEmpty());
  EXPECT_THAT(found_by(find_busy_vm_threads, busy_threads({{"VM Thread", 0.4, 0.31}})), SizeIs(1));
  EXPECT_THAT(found_by(find_busy_vm_threads, busy_threads({{"Service Thread", 1}})).at(0).sentence,
              HasSubstr("\"Service Thread\" runs without a pause. It cleans the VM's tables"));
}

TEST(VmThreadRule, LeavesWhatOtherRulesExplainToThem) {
  Facts facts = busy_threads({{"VM Thread", 1}});
  EXPECT_THAT(found_by(find_busy_vm_threads, facts, {{.rule = "safepoint"}}), IsEmpty());
  facts.counters = {{.ns = 0, .gc_seconds = 1}, {.ns = 2 * kSecond, .gc_seconds = 2.9}};  // by the Serial collector
  EXPECT_THAT(found_by(find_busy_vm_threads, facts), IsEmpty());
  facts.counters[1].gc_seconds = 1.2;
  facts.counters[0].safepoints = 10;
  facts.counters[1].safepoints = 510;
  facts.operations = {.looks = 20, .seen = {{"VM_ThreadDump", 17}}};
  const auto found = found_by(find_busy_vm_threads, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].evidence, ElementsAre(HasSubstr("100 %"), "500 safepoints in 2.0 s",
                                             "VM operations at 20 looks: VM_ThreadDump 17"));
}

TEST(VmThreadNames, TellTheWorkOfAThread) {
  EXPECT_EQ(vm_thread_named("VM Thread").work, VmWork::kOperations);
  EXPECT_EQ(vm_thread_named("C2 CompilerThread0").work, VmWork::kCompiler);
  EXPECT_EQ(vm_thread_named("C2 CompilerThre").work, VmWork::kCompiler);
  EXPECT_EQ(vm_thread_named("GC Thread#3").work, VmWork::kCollector);
  EXPECT_EQ(vm_thread_named("VM Periodic Tas").work, VmWork::kOther);
  EXPECT_EQ(vm_thread_named("VM Peri..Thread").work, VmWork::kOther);
  EXPECT_EQ(vm_thread_named("pool-1-thread-1").work, VmWork::kNone);
}

Facts pools(std::size_t first, std::size_t second, std::size_t third, std::size_t elsewhere = 0) {
  Facts facts{.target = "4711"};
  for (const std::size_t count : {first, second, third}) {
    ThreadsLook look{.ns = facts.looks.size() * kSecond};
    for (std::size_t i = 1; i <= count; ++i) {
      ThreadFact fact{.key = static_cast<ThreadKey>(i), .name = "pool-" + std::to_string(i) + "-thread-1"};
      fact.frames = {{i <= elsewhere ? "App.work" + std::to_string(i) : "java.lang.Object.wait", "X.java:1"}};
      look.threads.push_back(fact);
    }
    facts.looks.push_back(look);
  }
  return facts;
}

TEST(ThreadGrowthRule, NeedsManyIdleThreadsAndNewOnesAtEachLook) {
  EXPECT_THAT(found_by(find_growing_threads, pools(99, 110, 120)), IsEmpty());
  EXPECT_THAT(found_by(find_growing_threads, pools(100, 104, 120)), IsEmpty());
  EXPECT_THAT(found_by(find_growing_threads, pools(100, 110, 114)), IsEmpty());
  const auto found = found_by(find_growing_threads, pools(100, 105, 110));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kHint);
  EXPECT_THAT(found[0].sentence, HasSubstr("100, then 110 with the name \"pool-N-thread-N\""));
  EXPECT_EQ(found_by(find_growing_threads, pools(500, 505, 510)).at(0).confidence, Confidence::kLikely);
  EXPECT_THAT(found_by(find_growing_threads, pools(500, 505, 510, 52)), IsEmpty());  // they work
}

TEST(ThreadGrowthRule, IsNotOfThreadsThatEndToo) {
  Facts facts = pools(500, 520, 540);
  facts.looks[2].threads[3].key = 9999;  // one of the first is gone
  EXPECT_THAT(found_by(find_growing_threads, facts), IsEmpty());
}

// "t1" waits for a monitor that "t2" has, and "t2" for a mutex that "t1" has.
Facts mixed() {
  ThreadFact one{.key = 1, .name = "t1", .tid = 101, .nid = 11}, other{.key = 2, .name = "t2", .tid = 102, .nid = 12};
  one.wait = WaitFact{.kind = "monitor", .text = "waiting to lock <0x10>", .owner = 2};
  Facts facts{.target = "4711"};
  facts.looks.resize(3, ThreadsLook{.threads = {one, other}});
  MutexFact mutex{.name = "native mutex 0x100", .owner = "t1", .owner_tid = 11, .waiters = {{.tid = 12, .name = "t2"}}};
  facts.mutexes.resize(2, MutexLook{.held = {mutex}});
  return facts;
}

TEST(MixedDeadlockRule, NeedsACircleOfBothKindsAtTwoLooks) {
  const auto found = found_by(find_mixed_deadlocks, mixed());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].evidence, ElementsAre(HasSubstr("\"t1\" #1 is waiting to lock <0x10>"),
                                             HasSubstr("\"t2\" waits for native mutex")));
  EXPECT_THAT(found_by(find_kept_mutexes, mixed(), found), IsEmpty());
  EXPECT_THAT(found_by(find_kept_mutexes, mixed()), SizeIs(1));
  Facts other_owner = mixed();
  other_owner.mutexes[0].held[0].owner_tid = 13;
  EXPECT_THAT(found_by(find_mixed_deadlocks, other_owner), IsEmpty());
  Facts once = mixed();
  once.looks[1].threads[0].wait.reset();
  EXPECT_THAT(found_by(find_mixed_deadlocks, once), IsEmpty());
  Facts java = mixed();
  java.mutexes = {MutexLook(), MutexLook()};
  for (ThreadsLook& look : java.looks) {
    look.threads[1].wait = look.threads[0].wait;
    look.threads[1].wait->owner = 1;
  }
  EXPECT_THAT(found_by(find_mixed_deadlocks, java), IsEmpty());  // the rule for Java's locks says it
}

TEST(MixedDeadlockRule, TakesAVirtualThreadForItsCarrier) {
  Facts facts = mixed();
  for (ThreadsLook& look : facts.looks) {
    look.threads[1].name = "carrier-1";
    look.threads.push_back({.key = 9, .name = "v", .is_virtual = true, .carrier = "carrier-1"});
    look.threads[0].wait->owner = 9;
  }
  EXPECT_THAT(found_by(find_mixed_deadlocks, facts), SizeIs(1));
}

TEST(MallocRule, NeedsMuchThatIsFreeAndHalfOfTheArenas) {
  const auto malloc = [](std::uint64_t held, std::uint64_t free, std::uint64_t unread = 0) {
    Facts facts{.target = "4711", .feature = 17};
    facts.malloc = MallocFact{.arenas = 8, .held = held * kMiB, .free = free * kMiB, .unread = unread * kMiB};
    return facts;
  };
  EXPECT_THAT(found_by(find_free_malloc, malloc(300, 255)), IsEmpty());
  EXPECT_THAT(found_by(find_free_malloc, malloc(600, 299)), IsEmpty());
  const auto found = found_by(find_free_malloc, malloc(300, 256));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].next, HasSubstr("System.trim_native_heap"));
  EXPECT_THAT(found_by(find_free_malloc, malloc(2000, 600, 1000)).at(0).evidence,
              ElementsAre(HasSubstr("60 % of it is free"), HasSubstr("1000.0 MiB of the arenas were not read")));
}

TEST(AllocationStallRule, NeedsThreadsThatWaitAtSeveralLooks) {
  const auto stalled = [](std::size_t with_stall) {
    Facts facts{.target = "4711"};
    facts.stalls = StallFact{.concurrent = true, .looks = 6, .with_stall = with_stall, .most = 4};
    facts.stalls->last = StalledThread{.name = "worker", .function = "ZPageAllocator::alloc_page_stall"};
    return facts;
  };
  EXPECT_THAT(found_by(find_allocation_stalls, stalled(1)), IsEmpty());
  EXPECT_EQ(found_by(find_allocation_stalls, stalled(2)).at(0).confidence, Confidence::kHint);
  const auto found = found_by(find_allocation_stalls, stalled(3));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_THAT(found[0].evidence[0], "at 3 of 6 looks, and up to 4 threads at a time");
}

TEST(SwapRule, NeedsMuchInTheSwapAtBothLooks) {
  const auto swapped = [](std::uint64_t first, std::uint64_t second, std::uint64_t faults) {
    Facts facts{.target = "4711"};
    facts.process = {
        {.ns = 0, .resident = 1000 * kMiB, .swapped = first * kMiB, .major_faults = 5},
        {.ns = 2 * kSecond, .resident = 1000 * kMiB, .swapped = second * kMiB, .major_faults = 5 + faults}};
    return facts;
  };
  EXPECT_THAT(found_by(find_swapped, swapped(63, 80, 500)), IsEmpty());
  EXPECT_THAT(found_by(find_swapped, swapped(80, 50, 500)), IsEmpty());
  EXPECT_EQ(found_by(find_swapped, swapped(80, 80, 99)).at(0).confidence, Confidence::kHint);
  const auto found = found_by(find_swapped, swapped(80, 80, 100));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_THAT(found[0].evidence[1], HasSubstr("100 pages were read from a disk in 2.0 s"));
}

}  // namespace
}  // namespace jtrace::diagnose
