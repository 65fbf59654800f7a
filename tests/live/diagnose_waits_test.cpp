// `jtrace diagnose`: JVMs whose threads wait through pools, or for what nobody gives back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/live/diagnosis.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DiagnoseWaits : public OnAilingJvm {
 protected:
  std::unique_ptr<JvmProcess> start_and_ask(std::string_view words) {
    auto jvm = start({}, "Blockages");
    must(jvm->ask(words));
    return jvm;
  }
};
JTRACE_ON_EACH_JDK(DiagnoseWaits);

// True where other programs keep the machine busy.
std::vector<std::string> rules_but_of_machine(const Diagnosis& found) {
  std::vector<std::string> rules = found.rules();
  std::erase(rules, "processors");
  return rules;
}

// A small core of it.
std::string core_of(const JvmProcess& jvm, const ScratchDir& folder) {
  const std::string core = folder.file("core");
  EXPECT_EQ(must(run_jtrace({"core", jvm.pid_text(), "-o", core, "--small"})).status, 0);
  return core;
}

TEST_P(DiagnoseWaits, SaysWhereManyThreadsStandThoughNothingIsFound) {
  const auto jvm = start_and_ask("borrow 24");
  const ScratchDir folder;
  for (const std::string& target : {jvm->pid_text(), core_of(*jvm, folder)}) {
    SCOPED_TRACE(target);
    const Diagnosis found = diagnose(target);
    EXPECT_THAT(rules_but_of_machine(found), IsEmpty()) << found.done.out;
    const json standing = found.document["diagnosis"]["standing"];
    ASSERT_TRUE(standing.is_object()) << found.done.out;
    EXPECT_EQ(standing["method"], "Blockages$Connections.borrow");
    EXPECT_EQ(standing["threads"], 24);
    EXPECT_EQ(standing["next"], "jtrace stack " + target + " --java --group");
    EXPECT_THAT(standing["evidence"].dump(),
                AllOf(HasSubstr("\\\"web-1\\\", \\\"web-2\\\", \\\"web-3\\\" and 21 more"),
                      HasSubstr("at Blockages$Connections.borrow(Blockages.java:"),
                      HasSubstr("all of them wait for <0x"), HasSubstr("ConditionObject)")));
  }
  const CommandOutput text = must(run_jtrace({"diagnose", jvm->pid_text(), "--budget", "60"}));
  EXPECT_THAT(text.out, HasSubstr(" waiting threads stand in Blockages$Connections.borrow. ")) << text.out;
}

TEST_P(DiagnoseWaits, SaysNothingOfPoolsWithoutWork) {
  const auto jvm = start_and_ask("idle 16");
  const Diagnosis found = diagnose(jvm->pid_text());
  EXPECT_THAT(rules_but_of_machine(found), IsEmpty()) << found.done.out;
  EXPECT_FALSE(found.document["diagnosis"].contains("standing")) << found.done.out;
}

// All of the JVM and of a core of it.
TEST_P(DiagnoseWaits, NamesADeadlockThroughTheQueueOfAPool) {
  const auto jvm = start_and_ask("refresh 7");
  const ScratchDir folder;
  for (const std::string& target : {jvm->pid_text(), core_of(*jvm, folder)}) {
    SCOPED_TRACE(target);
    const Diagnosis found = diagnose(target, {"--interval", "0.3"});
    EXPECT_THAT(rules_but_of_machine(found), ElementsAre("pool-deadlock")) << found.done.out;
    EXPECT_THAT(
        found.texts("pool-deadlock"),
        ElementsAre(AllOf(
            HasSubstr("certain: "),
            HasSubstr("\\\"refresh\\\" and all 7 threads of the pool \\\"io-*\\\" wait for each other"),
            HasSubstr(
                "is waiting for a task in the queue of the pool \\\"io-*\\\", at Blockages.resultOf(Blockages.java:"),
            HasSubstr("has 1 task in its queue"), HasSubstr("owned by \\\"refresh\\\" #"),
            HasSubstr("and 4 others of this pool"),
            HasSubstr("1 other thread waits for these, and cannot go on either: \\\"victim\\\""))));
    // Its next command has the whole circle.
    EXPECT_EQ(found.document["data"][0]["next"], "jtrace inspect " + target + " locks");
    const CommandOutput text = must(run_jtrace({"inspect", target, "locks"}));
    EXPECT_THAT(text.out,
                ::testing::StartsWith(
                    "deadlock: \"refresh\", 7 \"io-*\" wait for each other through the queue of the pool <0x"));
    const json locks = json::parse(must(run_jtrace({"inspect", target, "locks", "--format", "json"})).out);
    EXPECT_EQ(locks["data"][0]["kind"], "deadlock") << locks;
    EXPECT_EQ(locks["data"][0]["threads"].size(), 8u) << locks;
    EXPECT_EQ(locks["data"][0]["pools"].size(), 1u) << locks;
    for (const json& row : locks["data"])
      if (row.value("thread", "") == "refresh" && row.contains("awaits")) {
        EXPECT_EQ(row["poolName"], "io-*");
      }
  }
}

TEST_P(DiagnoseWaits, FollowsACircleThroughOtherThreadsAndPools) {
  const auto jvm = start_and_ask("refresh-through-others 3");
  must(jvm->ask("two-pools 2"));
  const Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "0.3"});
  EXPECT_THAT(rules_but_of_machine(found), ElementsAre("pool-deadlock", "pool-deadlock")) << found.done.out;
  EXPECT_THAT(found.texts("pool-deadlock"),
              ::testing::UnorderedElementsAre(AllOf(HasSubstr("\\\"refresh\\\""), HasSubstr("\\\"between\\\""),
                                                    HasSubstr("and all 3 threads of the pool \\\"io-*\\\"")),
                                              AllOf(HasSubstr("all 2 threads of the pool \\\"left-*\\\""),
                                                    HasSubstr("all 2 threads of the pool \\\"right-*\\\""))));
}

TEST_P(DiagnoseWaits, TakesAPoolOfWhichAThreadGoesOnForNoDeadlock) {
  for (const char* kind : {"refresh-free 3", "refresh-limited 3"}) {
    SCOPED_TRACE(kind);
    const auto jvm = start_and_ask(kind);
    const Diagnosis found = diagnose(jvm->pid_text(), {"--interval", "0.3"});
    EXPECT_THAT(found.texts("pool-deadlock"), IsEmpty()) << found.done.out;
    EXPECT_THAT(must(run_jtrace({"inspect", jvm->pid_text(), "locks"})).out, ::testing::Not(HasSubstr("deadlock")));
  }
}

TEST_P(DiagnoseWaits, NamesOneCallOfTheJdkThatDoesNotEnd) {
  const auto jvm = start_and_ask("match");
  const Diagnosis found = diagnose_until_found(*jvm, "spinning");
  EXPECT_THAT(
      found.texts("spinning"),
      ElementsAre(AllOf(HasSubstr("likely: "), HasSubstr("The thread \\\"rules\\\" runs without a pause in one call of "
                                                         "java.util.regex.Matcher.matches by Blockages.accepts."))))
      << found.done.out;
}

TEST_P(DiagnoseWaits, DoesNotTakeManyShortCallsOfTheJdkForOne) {
  const auto jvm = start_and_ask("matches");
  for (int i = 0; i < 2; ++i) {
    const Diagnosis found = diagnose(jvm->pid_text());
    EXPECT_THAT(rules_but_of_machine(found), IsEmpty()) << found.done.out;
  }
}

}  // namespace
}  // namespace jtrace::test
