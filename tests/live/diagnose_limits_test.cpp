// `jtrace diagnose`: JVMs that are near a limit, or that wait for something outside of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/live/diagnosis.h"
#include "tests/testlib/dead_file_system.h"
#include "tests/testlib/own_group.h"
#include "tests/testlib/require.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kQuick = {"--interval", "0.3"};

class DiagnoseLimits : public OnAilingJvm {};
JTRACE_ON_EACH_JDK(DiagnoseLimits);

TEST_P(DiagnoseLimits, NamesAFullMetaspace) {
  const auto jvm = start({.flags = {"-XX:MaxMetaspaceSize=24m"}});
  must(jvm->ask("metaspace 80"));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("metaspace"), IsEmpty());
  must(jvm->ask("metaspace 92"));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("metaspace"),
              Contains(AllOf(HasSubstr("certain: "), HasSubstr("Metaspace is nearly full"), HasSubstr("24.0 MiB"))));
}

// Each class loader keeps for itself what it does not use.
TEST_P(DiagnoseLimits, NamesAMetaspaceThatClassLoadersHaveSharedOut) {
  const std::string_view confidence = GetParam().version < 16 ? "hint: " : "likely: ";
  const auto jvm = start({.flags = {"-XX:MaxMetaspaceSize=24m"}}, "MoreAilments");
  must(jvm->ask("loaders 88"));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("metaspace"), IsEmpty());
  must(jvm->ask("loaders 200"));
  EXPECT_THAT(
      diagnose(jvm->pid_text(), kQuick).texts("metaspace"),
      Contains(AllOf(HasSubstr(std::string(confidence)), HasSubstr("Metaspace is full"), HasSubstr("24.0 MiB"))));
  must(jvm->ask("unload"));
  if (GetParam().version >= 16) {
    EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("metaspace"), IsEmpty());
  }
  const auto other = start({.flags = {"-XX:CompressedClassSpaceSize=16m"}}, "MoreAilments");
  must(other->ask("class-loaders 88"));
  EXPECT_THAT(diagnose(other->pid_text(), kQuick).texts("metaspace"), IsEmpty());
  must(other->ask("class-loaders 200"));
  EXPECT_THAT(
      diagnose(other->pid_text(), kQuick).texts("metaspace"),
      Contains(AllOf(HasSubstr(std::string(confidence)), HasSubstr("The class space is full"), HasSubstr("16.0 MiB"))));
}

TEST_P(DiagnoseLimits, NamesACompilerThatHasStopped) {
  const auto jvm = start({.flags = {"-XX:ReservedCodeCacheSize=3m", "-XX:InitialCodeCacheSize=2496k",
                                    "-XX:-UseCodeCacheFlushing", "-XX:TieredStopAtLevel=1", "-Xcomp"}});
  must(jvm->ask("code"));
  const Diagnosis found = diagnose(jvm->pid_text(), kQuick);
  EXPECT_THAT(found.texts("code-cache"), ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("UseCompiler"))));
  const auto other = start({.flags = {"-Xint"}});  // it never compiles
  EXPECT_THAT(diagnose(other->pid_text(), kQuick).texts("code-cache"), IsEmpty());
}

TEST_P(DiagnoseLimits, NamesTheTimeSpentInCollections) {
  const auto jvm = start();
  std::this_thread::sleep_for(std::chrono::seconds(20));  // a JVM that starts may collect often
  must(jvm->ask("collect"));
  const Diagnosis found = diagnose_until(*jvm, "gc-time");
  EXPECT_THAT(found.texts("gc-time"), ElementsAre(HasSubstr("likely: ")));
  EXPECT_THAT(found.texts("heap-full"), IsEmpty()) << found.done.out;
}

TEST_P(DiagnoseLimits, NamesSocketsThatAreNotClosed) {
  const auto jvm = start();
  must(jvm->ask("unclosed 99"));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("unclosed-sockets"), IsEmpty());
  must(jvm->ask("unclosed 1"));
  EXPECT_THAT(
      diagnose(jvm->pid_text(), kQuick).texts("unclosed-sockets"),
      ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("100 sockets are"), HasSubstr("100 of them of 127.0.0.1"))));
}

TEST_P(DiagnoseLimits, HintsAtThreadsThatWaitForTheNetwork) {
  const auto jvm = start();
  must(jvm->ask("readers 5"));
  const Diagnosis found = diagnose(jvm->pid_text(), kQuick);
  EXPECT_THAT(found.texts("network"), ElementsAre(AllOf(HasSubstr("hint: "), HasSubstr("5 threads wait"),
                                                        HasSubstr("at Ailing.read(Ailing.java"))))
      << found.done.out;
  EXPECT_EQ(found.done.status, 0);
}

TEST_P(DiagnoseLimits, HintsThatAttachingIsOff) {
  const auto jvm = start({.flags = {"-XX:+DisableAttachMechanism"}});
  const Diagnosis found = diagnose(jvm->pid_text(), kQuick);
  EXPECT_THAT(found.texts("attach-off"), ElementsAre(HasSubstr("hint: ")));
  EXPECT_EQ(found.done.status, 0) << found.done.out;
}

TEST_P(DiagnoseLimits, NamesACollectionThatWaitsForNativeCode) {
  const auto jvm = start(with_diagnose_agent(GetParam(), "critical"));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("gc-locker"), IsEmpty());
  const std::string wish = jvm->in_working_folder("critical");
  std::ofstream(wish) << "now\n";
  for (int i = 0; i < 3000 && std::ifstream(wish).good(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_FALSE(std::ifstream(wish).good());
  must(jvm->ask("full"));
  const auto safepoint = must(run_jtrace({"inspect", jvm->pid_text(), "safepoint", "--format", "json"}));
  if (GetParam().version == 8 && safepoint.out.find("gcLocker") == std::string::npos) return;  // no symbols
  const Diagnosis found = diagnose_until(*jvm, "gc-locker");
  EXPECT_THAT(found.texts("gc-locker"), ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("A collection waits"))))
      << found.done.out;
  if (GetParam().version < 22) {
    EXPECT_THAT(found.texts("gc-locker"), Contains(HasSubstr("1 thread in JNI critical regions")));
  }
  EXPECT_THAT(must(run_jtrace({"inspect", jvm->pid_text(), "locks"})).out,
              HasSubstr("a collection waiting for native code in JNI critical regions"));
}

TEST_P(DiagnoseLimits, NamesAThreadThatWaitsForItsOwnReadLock) {
  const auto jvm = start();
  must(jvm->ask("upgrade"));
  const Diagnosis found = diagnose_until(*jvm, "lock-wait");
  EXPECT_THAT(found.texts("lock-wait"),
              ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("upgrader"), HasSubstr("ReentrantReadWriteLock$"))))
      << found.done.out;
  EXPECT_EQ(found.done.status, 1);
}

TEST_P(DiagnoseLimits, NamesAThreadThatWaitsInTheKernel) {
  const auto jvm = start(with_diagnose_agent(GetParam(), "kernel"));
  const Diagnosis found = diagnose_until(*jvm, "kernel-wait");
  EXPECT_THAT(found.texts("kernel-wait"), ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("in-kernel"))))
      << found.done.out;
}

// The JVM's /tmp is of a server that is gone: a collector that asks it cannot be ended, not even by SIGKILL.
TEST_P(DiagnoseLimits, EndsInTimeAlthoughACollectorDoesNot) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("namespaces", why);
  const auto dead = DeadFileSystem::make();
  if (!dead) JTRACE_SKIP("fuse", dead.error().message());
  const auto jvm = start({.isolation = Isolation::kMount,
                          .in_child = [&](const std::string& root) { return (*dead)->mount_at(root + "/tmp"); }});
  must(jvm->ask("monitors"));
  (*dead)->die();
  const auto begin = std::chrono::steady_clock::now();
  const Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "0.3", "--budget", "10"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(found.done.status, 1) << found.done.err;
  EXPECT_THAT(found.rules(), Contains("deadlock")) << found.done.out;
  EXPECT_THAT(found.document["diagnosis"]["budgets"].dump(), HasSubstr("no answer within its 2000 ms"));
  EXPECT_THAT(found.done.err, HasSubstr("is left behind: it waits in the kernel"));
}

TEST_P(DiagnoseLimits, KeepsToItsTimeAndSaysWhatItLeftOut) {
  const auto jvm = start();
  const Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "1", "--budget", "0.1"});
  EXPECT_LE(found.document["diagnosis"]["elapsedMillis"], 2600) << found.done.out;
  EXPECT_EQ(found.document["diagnosis"]["limits"]["elapsedMillis"], 2100);
  EXPECT_GT(found.document["diagnosis"]["bytesRead"], 1 << 20);
}

TEST_P(DiagnoseLimits, NamesAFullFileSystem) {
  if (const std::string why = why_no_namespaces(); !why.empty()) JTRACE_SKIP("namespaces", why);
  const auto jvm = start({.isolation = Isolation::kMount, .in_child = [](const std::string& root) {
                            return ::mount("tmpfs", (root + "/tmp").c_str(), "tmpfs", 0, "size=1m") == 0;
                          }});
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("disk-full"), IsEmpty());
  std::ofstream(jvm->inside("/tmp/filler")) << std::string(1 << 20, 'x');
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("disk-full"),
              ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("The file system of /tmp is full"),
                                HasSubstr("of 1.0 MiB"))));
}

TEST_P(DiagnoseLimits, NamesAGroupWithoutMemory) {
  const auto jvm = start({.flags = {"-XX:MaxDirectMemorySize=100m"}});
  const auto group = OwnGroup::make("memory", jvm->pid());
  if (!group) JTRACE_SKIP("cgroup", group.error().message());
  must(jvm->ask("direct 40"));
  must(group->set_memory_limit(1.3));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("group-memory"), IsEmpty());
  must(group->set_memory_limit(1.05));
  const Diagnosis found = diagnose(jvm->pid_text(), kQuick);
  EXPECT_THAT(found.texts("group-memory"),
              ElementsAre(AllOf(HasSubstr("certain: "), ::testing::ContainsRegex("memory: 9[0-9] % of "))))
      << found.done.out;
  EXPECT_THAT(found.texts("group-size"), ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("64.0 MiB"))));
}

TEST_P(DiagnoseLimits, NamesAGroupThatTakesTheProcessorsAway) {
  const auto jvm = start();
  const auto group = OwnGroup::make("cpu", jvm->pid());
  if (!group) JTRACE_SKIP("cgroup", group.error().message());
  must(group->set_processors(0.2));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("throttled"), IsEmpty());
  must(jvm->ask("busy 3"));
  EXPECT_THAT(diagnose_until(*jvm, "throttled").texts("throttled"),
              ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("0.2 processors"))));
}

TEST_P(DiagnoseLimits, NamesAGroupWithoutRoomForThreads) {
  const auto jvm = start();
  const auto group = OwnGroup::make("pids", jvm->pid());
  if (!group) JTRACE_SKIP("cgroup", group.error().message());
  const int now = must(group->tasks());
  must(group->set_task_limit(2 * now));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("threads"), IsEmpty());
  must(group->set_task_limit(now + 1));
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("threads"),
              ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr(" of " + std::to_string(now + 1)))));
}

// Fifteen other threads and this JVM on one processor.
TEST_P(DiagnoseLimits, NamesThreadsThatGetNoProcessor) {
  const auto on_first = [] {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    return ::sched_setaffinity(0, sizeof first, &first) == 0;
  };
  const auto jvm = start({.in_child = [&](const std::string&) { return on_first(); }});
  must(jvm->ask("spin"));
  std::atomic<bool> stop = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 15; ++i)
    others.emplace_back([&] {
      on_first();
      while (!stop) {
      }
    });
  const Diagnosis found = diagnose_until(*jvm, "processors");
  stop = true;
  for (std::thread& each : others) each.join();
  EXPECT_THAT(found.texts("processors"),
              ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("wait for a processor for "))))
      << found.done.out;
}

TEST_P(DiagnoseLimits, NamesCarriersThatAreKept) {
  if (GetParam().version < 21) GTEST_SKIP() << "virtual threads came with JDK 21";
  const auto jvm =
      start({.flags = {"-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2"}});
  must(jvm->ask("pin"));
  // No thread waits for the carriers.
  EXPECT_THAT(diagnose(jvm->pid_text(), kQuick).texts("pinned"),
              ElementsAre(AllOf(HasSubstr("hint: "), HasSubstr("2 of 2 carriers of virtual threads are each kept"),
                                HasSubstr("pinned by the class initializer of Ailing$First, at Ailing.standStill("),
                                HasSubstr("pinned by the class initializer of Ailing$Second, at Ailing.standStill("))));
  must(jvm->ask("ready 5"));
  const Diagnosis found = diagnose(jvm->pid_text(), kQuick);
  EXPECT_THAT(found.texts("pinned"), ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("2 carriers are each kept"),
                                                       HasSubstr("5 others"), HasSubstr("Ailing.standStill"))))
      << found.done.out;
}

TEST_P(DiagnoseLimits, FewCarriersAreAHintWhileNobodyWaitsForOne) {
  if (GetParam().version < 21) GTEST_SKIP() << "virtual threads came with JDK 21";
  const auto jvm = start({.flags = {"-Djdk.virtualThreadScheduler.parallelism=3"}});
  must(jvm->ask("pin"));
  const Diagnosis alone = diagnose(jvm->pid_text());
  EXPECT_THAT(alone.texts("pinned"), ElementsAre(AllOf(HasSubstr("hint: "), HasSubstr("2 of 3 carriers of virtual "))))
      << alone.done.out;
  must(jvm->ask("park-virtual"));
  const Diagnosis parked = diagnose(jvm->pid_text());
  EXPECT_THAT(parked.texts("pinned"), ElementsAre(AllOf(HasSubstr("hint: "), HasSubstr("2 of 3 carriers of virtual "))))
      << parked.done.out;
}

TEST_P(DiagnoseLimits, NamesTheMonitorThatPinsAVirtualThread) {
  if (GetParam().version < 21) GTEST_SKIP() << "virtual threads came with JDK 21";
  const auto jvm = start({.flags = {"-Djdk.virtualThreadScheduler.parallelism=4"}}, "MoreAilments");
  must(jvm->ask("pin-in-monitor"));
  const Diagnosis found = diagnose(jvm->pid_text(), kQuick);
  if (GetParam().version >= 24) {
    EXPECT_THAT(found.texts("pinned"), IsEmpty()) << found.done.out;
  } else {
    EXPECT_THAT(found.texts("pinned"),
                ElementsAre(AllOf(HasSubstr("hint: "),
                                  HasSubstr("a monitor it holds (a java.lang.Object), at MoreAilments.standStill("))))
        << found.done.out;
  }
}

}  // namespace
}  // namespace jtrace::test
