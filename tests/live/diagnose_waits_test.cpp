// `jtrace diagnose`: JVMs whose threads wait through pools, or for what nobody gives back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/live/diagnosis.h"
#include "tests/testlib/scratch_dir.h"

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

}  // namespace
}  // namespace jtrace::test
