// The rules about limits, and about what lies outside of the JVM, on both sides of their boundaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/collectors.h"
#include "diagnose/rules.h"
#include "tests/unit/diagnose/found_by.h"

namespace jtrace::diagnose {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Facts grouped(const GroupFact& first, const GroupFact& second) {
  Facts facts{.target = "4711"};
  facts.groups = {first, second};
  facts.groups[1].ns = facts.groups[0].ns + 2 * kSecond;
  return facts;
}

Facts throttled(std::uint64_t periods, std::uint64_t throttled) {
  GroupFact first{.cpu = {{.folder = "/a", .periods = 100, .throttled = 50, .processors = 0.5}}};
  GroupFact second = first;
  second.cpu[0].periods += periods;
  second.cpu[0].throttled += throttled;
  return grouped(first, second);
}

TEST(ThrottledRule, NeedsAQuarterOfThePeriodsBetweenTheLooks) {
  EXPECT_THAT(found_by(find_throttled, throttled(20, 4)), IsEmpty());
  EXPECT_THAT(found_by(find_throttled, throttled(4, 4)), IsEmpty());
  EXPECT_THAT(found_by(find_throttled, throttled(20, 5)).at(0).sentence,
              AllOf(HasSubstr("25 % of the periods"), HasSubstr("0.5 processors")));
}

TEST(ThrottledRule, ComparesAGroupWithItself) {
  Facts facts = throttled(20, 20);
  facts.groups[1].cpu[0].folder = "/b";
  EXPECT_THAT(found_by(find_throttled, facts), IsEmpty());
}

GroupFact memory(std::uint64_t used, std::uint64_t killed = 0) {
  return {.memory_used = used * kMiB, .memory_limit = 100 * kMiB, .memory_folder = "/a", .killed = killed};
}

TEST(GroupMemoryRule, NeedsNineTenthsAtBothLooks) {
  EXPECT_THAT(found_by(find_full_group, grouped(memory(89), memory(95))), IsEmpty());
  EXPECT_THAT(found_by(find_full_group, grouped(memory(95), memory(89))), IsEmpty());
  EXPECT_THAT(found_by(find_full_group, grouped(memory(90), memory(90))).at(0).evidence, SizeIs(1));
  EXPECT_THAT(found_by(find_full_group, grouped(memory(90), memory(90, 2))).at(0).evidence.at(1), HasSubstr("2 times"));
  EXPECT_THAT(found_by(find_full_group, grouped({}, {})), IsEmpty());
}

TEST(GroupSizeRule, IsCertainOfAHeapThatDoesNotFit) {
  Facts facts = grouped(memory(10), memory(10));
  EXPECT_THAT(found_by(find_small_group, facts), IsEmpty());
  facts.limits = LimitFact{.max_heap = 90 * kMiB};
  EXPECT_THAT(found_by(find_small_group, facts), IsEmpty());
  facts.limits->max_heap = 95 * kMiB;
  EXPECT_EQ(found_by(find_small_group, facts).at(0).confidence, Confidence::kHint);
  facts.limits->max_heap = 101 * kMiB;
  EXPECT_EQ(found_by(find_small_group, facts).at(0).confidence, Confidence::kCertain);
}

TEST(ThreadsRule, NeedsNineTenthsOfThePidsAtBothLooks) {
  const auto tasks = [](std::uint64_t count) { return GroupFact{.tasks = count, .tasks_limit = 100}; };
  EXPECT_THAT(found_by(find_many_tasks, grouped(tasks(89), tasks(95))), IsEmpty());
  EXPECT_THAT(found_by(find_many_tasks, grouped(tasks(95), tasks(89))), IsEmpty());
  EXPECT_THAT(found_by(find_many_tasks, grouped(tasks(90), tasks(91))).at(0).sentence, HasSubstr("91 of 100"));
}

TEST(MetaspaceRule, LooksAtBothSpaces) {
  Facts facts{.target = "4711"};
  facts.counters = {{.metaspace_used = 89.0 * kMiB, .class_space_used = 9.0 * kMiB}};
  facts.limits = LimitFact{.max_metaspace = 100 * kMiB, .max_class_space = 11 * kMiB};
  EXPECT_THAT(found_by(find_full_metaspace, facts), IsEmpty());
  facts.counters[0].metaspace_used = 90.0 * kMiB;
  EXPECT_THAT(found_by(find_full_metaspace, facts).at(0).sentence, HasSubstr("Metaspace is nearly full: 90 %"));
  facts.counters[0].class_space_used = 10.0 * kMiB;
  EXPECT_THAT(found_by(find_full_metaspace, facts), SizeIs(2));
  facts.limits->max_metaspace.reset();
  EXPECT_THAT(found_by(find_full_metaspace, facts).at(0).sentence, HasSubstr("class space"));
}

TEST(CodeCacheRule, IsCertainIfTheCompilerIsOff) {
  Facts facts{.target = "4711"};
  facts.limits = LimitFact{.code_used = 94, .code_size = 100};
  EXPECT_THAT(found_by(find_full_code, facts), IsEmpty());
  facts.limits->code_used = 95;
  EXPECT_EQ(found_by(find_full_code, facts).at(0).confidence, Confidence::kLikely);
  facts.limits = LimitFact{.code_used = 50, .code_size = 100, .compiler_off = true};
  EXPECT_EQ(found_by(find_full_code, facts).at(0).confidence, Confidence::kCertain);
}

TEST(MetaspaceRule, CountsWhatIsCommittedIfMostOfItIsInUse) {
  Facts facts{.target = "4711"};
  facts.counters = {{.metaspace_used = 79.0 * kMiB, .metaspace_committed = 100.0 * kMiB}};
  facts.limits = LimitFact{.max_metaspace = 100 * kMiB};
  facts.counters[0].metaspace_committed = 97.0 * kMiB;
  EXPECT_THAT(found_by(find_full_metaspace, facts), IsEmpty());
  facts.counters[0].metaspace_committed = 100.0 * kMiB;
  facts.counters[0].metaspace_used = 80.0 * kMiB;
  EXPECT_THAT(found_by(find_full_metaspace, facts).at(0).evidence.at(0), HasSubstr("100.0 MiB committed"));
}

TEST(MetaspaceRule, CountsWhatIsCommittedAtTheLimit) {
  Facts facts{.target = "4711", .feature = 17};
  facts.counters = {{.metaspace_used = 6.4 * kMiB, .metaspace_committed = 24.0 * kMiB}};
  facts.counters[0].class_space_used = 2.0 * kMiB;
  facts.counters[0].class_space_committed = 15.5 * kMiB;
  facts.limits = LimitFact{.max_metaspace = 24 * kMiB, .max_class_space = 16 * kMiB};
  const auto found = found_by(find_full_metaspace, facts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].confidence, Confidence::kLikely);
  EXPECT_THAT(found[0].sentence, HasSubstr("Metaspace is full: 24.0 MiB of 24.0 MiB"));
  facts.counters[0].class_space_committed = 15.8 * kMiB;
  EXPECT_THAT(found_by(find_full_metaspace, facts).at(1).sentence, HasSubstr("The class space is full"));
  facts.feature = 11;  // it may be kept for other class loaders
  EXPECT_EQ(found_by(find_full_metaspace, facts).at(0).confidence, Confidence::kHint);
  facts.counters[0].gc_cause = "Last ditch collection";
  EXPECT_EQ(found_by(find_full_metaspace, facts).at(0).confidence, Confidence::kLikely);
}

Facts collecting(double share, double uptime) {
  Facts facts{.target = "4711"};
  facts.counters = {{.ns = 0, .gc_seconds = 5, .collections = 7, .uptime = uptime},
                    {.ns = 2 * kSecond, .gc_seconds = 5 + 2 * share, .collections = 10, .uptime = uptime + 2}};
  return facts;
}

TEST(GcTimeRule, LeavesAStartingJvmAndAFullHeapAlone) {
  EXPECT_THAT(found_by(find_much_collecting, collecting(0.24, 100)), IsEmpty());
  EXPECT_THAT(found_by(find_much_collecting, collecting(0.26, 10)), IsEmpty());
  EXPECT_THAT(found_by(find_much_collecting, collecting(0.26, 100)).at(0).sentence, HasSubstr("26 %"));
  Facts asked = collecting(0.26, 100);
  for (CounterFact& each : asked.counters) each.gc_cause = "System.gc()";
  EXPECT_THAT(found_by(find_much_collecting, asked).at(0).next, HasSubstr("who calls System.gc()"));
  std::vector<Finding> found = {{.rule = "heap-full"}};
  find_much_collecting(collecting(0.9, 100), found);
  EXPECT_THAT(found, SizeIs(1));
}

TEST(GcTimeRule, NamesTheCallOfSystemGcThatWasSeen) {
  Facts asked = collecting(0.26, 100);
  for (CounterFact& each : asked.counters) each.gc_cause = "System.gc()";
  const ThreadFact caller{.key = 12,
                          .name = "cleaner",
                          .frames = {{"java.lang.Runtime.gc", "Runtime.java", 0},
                                     {"java.lang.System.gc", "System.java:1907", 3},
                                     {"shop.Scratch.release", "Scratch.java:14", 1}}};
  asked.looks = {{.threads = {}}, {.threads = {caller}}};
  const Finding finding = found_by(find_much_collecting, asked).at(0);
  EXPECT_THAT(finding.evidence, Contains("\"cleaner\" #12 was seen in System.gc(), called at "
                                         "shop.Scratch.release(Scratch.java:14)"));
  EXPECT_THAT(finding.next, HasSubstr("out at shop.Scratch.release(Scratch.java:14);"));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("the cause of the last collection was System.gc()")));
}

// What asked for a collection, as a thread's stack below System.gc().
ThreadFact asking(std::vector<FrameFact> callers) {
  callers.insert(callers.begin(), {"java.lang.System.gc", "System.java:1907", 3});
  return {.key = 12, .name = "asking", .frames = std::move(callers)};
}
Finding finding_of(const std::vector<ThreadFact>& threads) {
  Facts asked = collecting(0.26, 100);
  for (CounterFact& each : asked.counters) each.gc_cause = "System.gc()";
  asked.looks = {{.threads = threads}};
  return found_by(find_much_collecting, asked).at(0);
}

TEST(GcTimeRule, LeavesTheJdksOwnCallsOfSystemGcOn) {
  const ThreadFact direct = asking({{"java.nio.Bits.reserveMemory", "Bits.java:175", 9},
                                    {"java.nio.ByteBuffer.allocateDirect", "ByteBuffer.java:332", 4},
                                    {"shop.Scratch.fill", "Scratch.java:20", 1}});
  const Finding finding = finding_of({direct});
  EXPECT_THAT(finding.next, AllOf(HasSubstr("-XX:MaxDirectMemorySize"), HasSubstr("not -XX:+DisableExplicitGC"),
                                  Not(HasSubstr("Scratch"))));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("called at java.nio.Bits.reserveMemory(Bits.java:175), for "
                                                   "shop.Scratch.fill(Scratch.java:20)")));
  const std::string rmi = finding_of({asking({{"sun.rmi.transport.GC$Daemon.run", "GC.java:129", 1}})}).next;
  EXPECT_THAT(rmi, AllOf(HasSubstr("sun.rmi.dgc.server.gcInterval"), Not(HasSubstr("DisableExplicitGC"))));
  const ThreadFact own = asking({{"shop.Scratch.release", "Scratch.java:14", 1}});
  EXPECT_THAT(finding_of({direct, own}).next, HasSubstr("out at shop.Scratch.release")) << "it can be taken out";
}

TEST(GcTimeRule, NeedsSeveralPausesAndNeverSaysMoreThanAll) {
  Facts facts = collecting(1.2, 100);
  EXPECT_THAT(found_by(find_much_collecting, facts).at(0).sentence, HasSubstr(" 100 %"));
  facts.counters[1].collections = 9;
  EXPECT_THAT(found_by(find_much_collecting, facts), IsEmpty());
}

TEST(KernelWaitRule, NeedsTheSameThreadAtTheSamePlace) {
  const KernelWaitFact wait{.tid = 7, .name = "io", .place = "nfs_wait"};
  const KernelWaitFact elsewhere{.tid = 7, .name = "io", .place = "pipe_read"};
  Facts facts{.target = "4711"};
  facts.process = {{.waits = {wait}}, {.waits = {elsewhere}}};
  EXPECT_THAT(found_by(find_kernel_waits, facts), IsEmpty());
  KernelWaitFact ran_since = wait;
  ran_since.switches = 1;
  facts.process = {{.waits = {wait}}, {.waits = {ran_since}}};
  EXPECT_THAT(found_by(find_kernel_waits, facts), IsEmpty());
  facts.process = {{.waits = {}}, {.waits = {wait}}};
  EXPECT_THAT(found_by(find_kernel_waits, facts), IsEmpty());
  facts.process = {{.waits = {wait}}, {.waits = {elsewhere, wait}}};
  EXPECT_THAT(found_by(find_kernel_waits, facts).at(0).evidence.at(0), HasSubstr("nfs_wait"));
}

Facts three_looks(const std::vector<ThreadFact>& threads) {
  Facts facts{.target = "4711"};
  for (std::uint64_t i = 0; i < 3; ++i) facts.looks.push_back({.ns = i * kSecond, .threads = threads});
  return facts;
}

std::vector<ThreadFact> readers(ThreadKey count, const std::string& call) {
  std::vector<ThreadFact> threads;
  for (ThreadKey key = 1; key <= count; ++key)
    threads.push_back({.key = key, .name = "r", .frames = {{call, "", 0}, {"App.ask", "App.java:7", 3}}});
  return threads;
}

TEST(NetworkRule, IsAHintAboutFiveThreadsAtOnePlace) {
  const std::string old_call = "java.net.SocketInputStream.socketRead0", call = "sun.nio.ch.NioSocketImpl.implRead";
  EXPECT_THAT(found_by(find_socket_readers, three_looks(readers(4, call))), IsEmpty());
  EXPECT_THAT(found_by(find_socket_readers, three_looks(readers(5, "sun.nio.ch.NioSocketImpl.accept"))), IsEmpty());
  EXPECT_EQ(found_by(find_socket_readers, three_looks(readers(5, old_call))).at(0).confidence, Confidence::kHint);
  Facts facts = three_looks(readers(5, call));
  EXPECT_THAT(found_by(find_socket_readers, facts).at(0).evidence.at(0), HasSubstr("App.ask(App.java:7)"));
  facts.looks[1].threads[0].frames[1].bci = 9;
  EXPECT_THAT(found_by(find_socket_readers, facts), IsEmpty());
}

TEST(UnclosedSocketsRule, NeedsAHundredAtBothLooks) {
  Facts facts{.target = "4711"};
  facts.sockets = {{.unclosed = 99}, {.unclosed = 200}};
  EXPECT_THAT(found_by(find_unclosed_sockets, facts), IsEmpty());
  facts.sockets = {{.unclosed = 100}, {.unclosed = 101, .peer = "10.0.0.7", .of_peer = 90}};
  EXPECT_THAT(found_by(find_unclosed_sockets, facts).at(0).evidence.at(0), HasSubstr("90 of them of 10.0.0.7"));
}

TEST(DiskFullRule, NeedsLittleSpaceAndAFullDisk) {
  Facts facts{.target = "4711"};
  facts.disks = {{.path = "/tmp", .use = "x", .free = 5 * kMiB, .size = 100 * kMiB}};
  EXPECT_THAT(found_by(find_full_disks, facts), IsEmpty());  // 5 % are free
  facts.disks = {{.path = "/tmp", .use = "x", .free = 17 * kMiB, .size = 10'000 * kMiB}};
  EXPECT_THAT(found_by(find_full_disks, facts), IsEmpty());
  facts.disks = {{.path = "/tmp", .use = "x", .free = 1 * kMiB, .size = 100 * kMiB}};
  EXPECT_EQ(found_by(find_full_disks, facts).at(0).next, "df -h /proc/4711/root/tmp");
}

// A thread that ran and was ready for these shares of the time.
Facts wanting(double ran, double queued) {
  Facts facts = three_looks({{.key = 1, .name = "t"}});
  for (ThreadsLook& look : facts.looks) {
    look.threads[0].measured_ns = look.ns;
    look.threads[0].ran_ns = static_cast<std::uint64_t>(ran * static_cast<double>(look.ns));
    look.threads[0].queued_ns = static_cast<std::uint64_t>(queued * static_cast<double>(look.ns));
  }
  return facts;
}

TEST(ProcessorsRule, GrowsFromAHintToALikelyFinding) {
  EXPECT_THAT(found_by(find_waits_for_processor, wanting(0.5, 0.45)), IsEmpty());
  EXPECT_THAT(found_by(find_waits_for_processor, wanting(0.1, 0.2)), IsEmpty());
  EXPECT_EQ(found_by(find_waits_for_processor, wanting(0.4, 0.5)).at(0).confidence, Confidence::kHint);
  EXPECT_EQ(found_by(find_waits_for_processor, wanting(0.09, 0.9)).at(0).confidence, Confidence::kLikely);
}

TEST(ProcessorsRule, LeavesOutThreadsThatOnlyThisProgramWakes) {
  Facts facts = three_looks(std::vector<ThreadFact>(4000, ThreadFact{.name = "idle"}));
  for (ThreadsLook& look : facts.looks)
    for (std::size_t i = 0; i < look.threads.size(); ++i) {
      ThreadFact& thread = look.threads[i];
      thread.key = static_cast<ThreadKey>(i + 1);
      thread.measured_ns = look.ns;
      thread.ran_ns = look.ns / 100'000;
      thread.queued_ns = look.ns / 1000;
    }
  EXPECT_THAT(found_by(find_waits_for_processor, facts), IsEmpty());
}

MutexLook mutexes(pid_t owner, std::uint64_t switches) {
  return {.held = {{.name = "Heap_lock", .owner = "o", .owner_tid = owner, .waiters = {{9, "w", switches}}}}};
}

TEST(VmLockRule, NeedsTheSameOwnerAndAWaiterThatHasNotRun) {
  Facts facts{.target = "4711"};
  facts.mutexes = {mutexes(7, 3), mutexes(7, 4)};
  EXPECT_THAT(found_by(find_kept_mutexes, facts), IsEmpty());
  facts.mutexes = {mutexes(7, 3), mutexes(8, 3)};
  EXPECT_THAT(found_by(find_kept_mutexes, facts), IsEmpty());
  facts.mutexes = {mutexes(7, 3), mutexes(7, 3)};
  EXPECT_THAT(found_by(find_kept_mutexes, facts).at(0).sentence,
              HasSubstr("\"o\" (nid 7) does not give back Heap_lock"));
}

TEST(VmLockRule, SaysNothingOfAnOwnerWithoutAProcessor) {
  Facts facts;
  facts.mutexes = {mutexes(1, 5), mutexes(1, 5)};
  const auto look = [](std::uint64_t ns, std::uint64_t queued) {
    return ThreadsLook{.ns = ns, .threads = {{.nid = 1, .queued_ns = queued, .measured_ns = ns}}};
  };
  facts.looks = {look(0, 0), look(2 * kSecond, kSecond / 2)};
  EXPECT_THAT(found_by(find_kept_mutexes, facts), SizeIs(1));
  facts.looks.back() = look(2 * kSecond, 2 * kSecond - 1);
  EXPECT_THAT(found_by(find_kept_mutexes, facts), IsEmpty());
}

TEST(VmLockRule, LeavesTheLocksOfAVmOperationToThatRule) {
  Facts facts{.target = "4711"};
  facts.mutexes = {mutexes(7, 3), mutexes(7, 3)};
  std::vector<Finding> found = {{.rule = "vm-operation"}};
  find_kept_mutexes(facts, found);
  EXPECT_THAT(found, SizeIs(1));
}

TEST(NativeDeadlockRule, NeedsTheSameCircleAtBothLooks) {
  const MutexLook circle{.circles = {{{1, "a"}, {2, "b"}}}}, turned{.circles = {{{2, "b"}, {1, "a"}}}};
  Facts facts{.target = "4711"};
  facts.mutexes = {{}, circle};
  EXPECT_THAT(found_by(find_native_deadlocks, facts), IsEmpty());
  facts.mutexes = {circle, turned};
  EXPECT_THAT(found_by(find_native_deadlocks, facts).at(0).evidence, SizeIs(2));
  facts.mutexes = {circle};
  facts.live = false;
  EXPECT_THAT(found_by(find_native_deadlocks, facts), SizeIs(1));
}

TEST(TcpTable, HasPeersStatesAndInodes) {
  const auto lines = parse_tcp(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1F90 0200007F:01BB 08 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 20 4 30 10\n"
      "   1: 00000000000000000000000001000000:1F90 0000000000000000FFFF00000700000A:0050 01 00000000:00000000 "
      "00:00000000 00000000     0        0 77 1 0\n"
      "   2: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:0050 01 0:0 0:0 0 0 0 78 1 0\n"
      "garbage\n   3: zz:1 yy:2 08 x x x x x notanumber\n");
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0].peer, "127.0.0.2:443");
  EXPECT_EQ(lines[0].state, 8);
  EXPECT_EQ(lines[0].inode, 4242u);
  EXPECT_EQ(lines[1].peer, "10.0.0.7:80");
  EXPECT_EQ(lines[2].peer, "[::1]:80");
}

// A table that changes while it is read has lines twice.
TEST(TcpTable, HasEachSocketOnce) {
  const std::string first = "   0: 0100007F:1F90 0200007F:01BB 08 0:0 00:0 0 0 0 4242 1\n";
  const std::string gone = "   1: 0100007F:1F90 0200007F:01BB 06 0:0 00:0 0 0 0 0 3\n";  // no process has it any more
  EXPECT_THAT(parse_tcp(first + gone + gone + first), SizeIs(3));
}

}  // namespace
}  // namespace jtrace::diagnose
