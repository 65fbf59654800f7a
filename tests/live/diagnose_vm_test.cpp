// `jtrace diagnose`: JVMs whose own threads are the trouble, or whose threads become too many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/live/diagnosis.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DiagnoseVm : public OnAilingJvm {
 protected:
  // With a collector that works beside the program, and a heap of 64 MiB.
  std::unique_ptr<JvmProcess> start_concurrent() {
    std::vector<std::string> flags{"-Xmx64m"};
    if (GetParam().version < 17)
      flags.insert(flags.end(), {"-XX:+UseConcMarkSweepGC", "-XX:+ExplicitGCInvokesConcurrent"});
    else flags.push_back("-XX:+UseZGC");
    return must(JvmProcess::start(GetParam(), "Ailing", {.flags = flags}));
  }
};
JTRACE_ON_EACH_JDK(DiagnoseVm);

TEST_P(DiagnoseVm, NamesAVmThreadThatHasNoRest) {
  const auto jvm = start();
  must(jvm->ask("dumps 6"));
  const Diagnosis found = diagnose_until(*jvm, "vm-thread");
  EXPECT_EQ(found.done.status, 1);
  EXPECT_THAT(found.texts("vm-thread"), ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("safepoints in "))))
      << found.done.out;
  if (GetParam().version > 8) {
    EXPECT_THAT(found.texts("vm-thread"), ElementsAre(HasSubstr("VM_ThreadDump")));
  }
}

TEST_P(DiagnoseVm, NamesACollectorThatUsesTheProcessors) {
  const auto jvm = start_concurrent();
  must(jvm->ask("collect"));
  const Diagnosis found = diagnose_until(*jvm, "gc-cpu");
  EXPECT_EQ(found.done.status, 1);
  EXPECT_THAT(found.texts("gc-cpu"), ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("The collector uses "))))
      << found.done.out;
}

TEST_P(DiagnoseVm, NamesThreadsThatWaitForMemory) {
  if (GetParam().version < 17) GTEST_SKIP() << "no collector with stalls before ZGC and Shenandoah";
  const auto jvm = start_concurrent();
  must(jvm->ask("churn 6"));
  const Diagnosis found = diagnose_until(*jvm, "allocation-stall");
  EXPECT_THAT(found.texts("allocation-stall"),
              ElementsAre(AllOf(HasSubstr("Threads that allocate wait"), HasSubstr("PageAllocator"),
                                HasSubstr("churner-"), HasSubstr("Ailing"))))
      << found.done.out;
}

TEST_P(DiagnoseVm, NamesThreadsThatShenandoahHoldsBack) {
  if (GetParam().version < 17) GTEST_SKIP() << "no Shenandoah in all builds before JDK 17";
  auto jvm = JvmProcess::start(GetParam(), "Ailing", {.flags = {"-Xmx64m", "-XX:+UseShenandoahGC"}});
  if (!jvm) GTEST_SKIP() << "this JDK has no Shenandoah: " << jvm.error().message();
  must((*jvm)->ask("churn 6"));
  const Diagnosis found = diagnose_until(**jvm, "allocation-stall");
  EXPECT_THAT(found.texts("allocation-stall"),
              ElementsAre(AllOf(HasSubstr("Threads that allocate wait"), HasSubstr("Shenandoah"), HasSubstr("churner-"),
                                HasSubstr("Ailing"))))
      << found.done.out;
}

TEST_P(DiagnoseVm, NamesACompilationThatDoesNotEnd) {
  if (GetParam().version < 17) GTEST_SKIP() << "there is no -XX:RepeatCompilation";
  const auto jvm =
      start({.flags = {"-XX:+UnlockDiagnosticVMOptions", "-XX:RepeatCompilation=100000000", "-XX:-TieredCompilation"}});
  must(jvm->ask("busy 1"));
  const Diagnosis brief = diagnose_until(*jvm, "compiler");
  EXPECT_THAT(brief.texts("compiler"), ElementsAre(HasSubstr("hint: "))) << brief.done.out;
  Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "5"});
  if (found.rules().empty()) found = diagnose(jvm->pid_text(), {"--interval", "8"});  // a machine with other work
  EXPECT_THAT(found.texts("compiler"),
              ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("C2 CompilerThread0"), HasSubstr("::"))))
      << found.done.out;
}

TEST_P(DiagnoseVm, NamesADeadlockOfAMonitorAndAMutex) {
  const auto jvm = start(with_diagnose_agent(GetParam(), "mixed"));
  EXPECT_THAT(diagnose(jvm->pid_text(), {"--interval", "0.3"}).rules(), IsEmpty());
  std::ofstream(jvm->in_working_folder("mixed")) << "now\n";
  const Diagnosis found = diagnose_until(*jvm, "mixed-deadlock");
  EXPECT_EQ(found.rules(), std::vector<std::string>{"mixed-deadlock"}) << found.done.out;
  EXPECT_THAT(found.texts("mixed-deadlock"),
              ElementsAre(AllOf(HasSubstr("certain: "), HasSubstr("mixed-1"), HasSubstr("mixed-2"),
                                HasSubstr("native mutex"), HasSubstr("waiting to lock"))));
  const auto locks = must(run_jtrace({"inspect", jvm->pid_text(), "locks"}));
  EXPECT_THAT(locks.out, ::testing::StartsWith("deadlock: \"mixed-")) << locks.err;
  EXPECT_THAT(locks.out, HasSubstr("a mutex of native code"));
}

TEST_P(DiagnoseVm, NamesThreadsThatBecomeMoreAndMore) {
  const auto jvm = start({.flags = {"-Xss256k"}});
  must(jvm->ask("leak 20"));
  EXPECT_THAT(diagnose(jvm->pid_text(), {"--interval", "0.3"}).texts("thread-growth"), IsEmpty());
  must(jvm->ask("leak 600"));
  const Diagnosis found = diagnose_until(*jvm, "thread-growth");
  EXPECT_THAT(found.texts("thread-growth"), ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("pool-N-thread-N"),
                                                              HasSubstr("Java threads started"))))
      << found.done.out;
}

TEST_P(DiagnoseVm, NamesMemoryThatMallocKeeps) {
  const auto jvm = start();
  must(jvm->ask("fragment 100"));
  EXPECT_THAT(diagnose(jvm->pid_text(), {"--interval", "0.3"}).texts("malloc-free"), IsEmpty());
  must(jvm->ask("fragment 420"));
  const Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "0.3"});
  EXPECT_THAT(found.texts("malloc-free"), ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("MALLOC_ARENA_MAX"))))
      << found.done.out;
}

}  // namespace
}  // namespace jtrace::test
