// Waits for the initialisation of a class, a virtual thread that cannot leave its carrier, stacks that were cut: each
// is reported as such, on every JDK found.
#include "tests/live/plain_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/strings.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Facts : public PlainFacts {};
JTRACE_ON_EACH_JDK(Facts);

TEST_P(Facts, NameTheClassWhoseInitialisationAThreadWaitsFor) {
  start();
  must(jvm_->ask("initialise"));
  const json waiter = thread_that_waits_for("waiter", "initialisation");
  ASSERT_TRUE(waiter.contains("waitingOn")) << waiter;
  EXPECT_EQ(waiter["waitingOn"]["kind"], "initialisation");
  EXPECT_EQ(waiter["waitingOn"]["class"], "PlainFacts$Slow");
  EXPECT_EQ(waiter["waitingOn"]["owner"], "initialiser");
  EXPECT_THAT(inspect({"threads"}).out,
              HasSubstr("    - waiting for the initialisation of class PlainFacts$Slow by \"initialiser\" #"));
  must(jvm_->ask("cycle"));
  for (const char* name : {"init-left", "init-right"})
    EXPECT_EQ(thread_that_waits_for(name, "initialisation")["waitingOn"]["kind"], "initialisation") << name;
  const CommandOutput locks = inspect({"locks"});
  EXPECT_THAT(locks.out, HasSubstr("deadlock: \"init-"));
  EXPECT_THAT(locks.out, Not(HasSubstr("(a int[])")));
  // The JDK's own thread that waits for references has no row of its own.
  EXPECT_THAT(locks.out, AllOf(::testing::ContainsRegex("without work, waiting in a queue or pool: .*\"Finalizer\""),
                               Not(HasSubstr("\n\"Finalizer\""))));
  EXPECT_TRUE(jvm_->alive());
}

TEST_P(Facts, NameTheVirtualThreadsThatWaitForEachOthersClass) {
  if (GetParam().version < 21) GTEST_SKIP() << "JDK " << GetParam().version << " has no virtual threads";
  auto flags = calm_flags();
  flags.push_back("-Djdk.virtualThreadScheduler.parallelism=4");
  start(flags);
  must(jvm_->ask("virtual-cycle"));
  for (const char* name : {"init-left", "init-right"})
    EXPECT_EQ(thread_that_waits_for(name, "initialisation")["waitingOn"]["kind"], "initialisation") << name;
  const CommandOutput locks = inspect({"locks"});
  EXPECT_THAT(locks.out,
              AllOf(HasSubstr("deadlock: \"init-"), Not(::testing::ContainsRegex("deadlock:[^\n]*ForkJoin"))));
  const auto verdict = must(run_jtrace({"diagnose", jvm_->pid_text(), "--interval", "0.3", "--budget", "60"}));
  EXPECT_THAT(verdict.out,
              AllOf(HasSubstr("Deadlock by class initialisation"), HasSubstr("init-left"), HasSubstr("init-right")));
  EXPECT_TRUE(jvm_->alive());
}

std::size_t times_in(const std::string& text, std::string_view wanted) {
  std::size_t times = 0;
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++times;
  return times;
}

TEST_P(Facts, OfGroupsTheJdksIdleThreadsAreOneLine) {
  start();
  const auto groups = must(run_jtrace({"stack", jvm_->pid_text(), "--java", "--group"}));
  const std::size_t at = groups.out.rfind("idle threads of the JDK: ");
  ASSERT_NE(at, groups.out.npos) << groups.out;
  EXPECT_THAT(groups.out.substr(at), AllOf(HasSubstr("\"Finalizer\""), HasSubstr("\"Signal Dispatcher\"")));
  EXPECT_THAT(groups.out, AllOf(Not(HasSubstr("Finalizer$FinalizerThread.run")), HasSubstr("\"main\"")));
  const auto asked = must(run_jtrace({"stack", jvm_->pid_text(), "--java", "--group", "--thread", "Finalizer"}));
  EXPECT_THAT(asked.out, HasSubstr("Finalizer$FinalizerThread.run"));
}

TEST_P(Facts, OfAPinnedVirtualThreadAreItsFramesAndItsCarrier) {
  if (GetParam().version < 21) GTEST_SKIP() << "JDK " << GetParam().version << " has no virtual threads";
  start();
  must(jvm_->ask("pinned"));
  const json pinned = thread("pinned");
  std::vector<std::string> frames;
  for (const json& frame : pinned["frames"]) frames.push_back(frame["class"].get<std::string>());
  EXPECT_THAT(frames, ::testing::Contains("PlainFacts$SlowVirtual"));
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back(), "jdk.internal.vm.Continuation") << "not the carrier's own";
  EXPECT_EQ(pinned["vmState"], "PINNED");
  const std::string text = inspect({"threads"}).out;
  const std::size_t at = text.find("\"pinned\" #");
  ASSERT_NE(at, text.npos);
  EXPECT_THAT(text.substr(at, text.find("\n\n", at) - at),
              AllOf(HasSubstr("    - carried by \"" + pinned["carrierName"].get<std::string>() + "\" #"),
                    HasSubstr("PlainFacts$SlowVirtual.<clinit>")));
  for (const bool java_only : {false, true}) {
    std::vector<std::string> words = {"stack", jvm_->pid_text()};
    if (java_only) words.emplace_back("--java");
    const auto stack = must(run_jtrace(words));
    EXPECT_EQ(times_in(stack.out, "PlainFacts$SlowVirtual.<clinit>"), 1u) << "the carrier has its own frames only";
    const std::size_t begin = stack.out.find("\"pinned\" #");
    ASSERT_NE(begin, stack.out.npos);
    EXPECT_THAT(
        stack.out.substr(begin, stack.out.find("\n\n", begin) - begin),
        AllOf(HasSubstr("[PINNED]"), HasSubstr("    - carried by \"" + pinned["carrierName"].get<std::string>()),
              HasSubstr(", pinned: it waits and keeps its carrier\n"), HasSubstr("PlainFacts$SlowVirtual.<clinit>")));
    words.emplace_back("--group");
    const auto groups = must(run_jtrace(words));
    EXPECT_EQ(times_in(groups.out, "PlainFacts$SlowVirtual.<clinit>"), 1u) << groups.out;
    EXPECT_THAT(groups.out, AllOf(HasSubstr("carries virtual thread #"), HasSubstr(", pinned: ")));
  }
  EXPECT_EQ(pinned["pinned"], true);
  for (const auto& words : {std::vector<std::string>{}, {"--group"}}) {
    std::vector<std::string> all = {"stack", jvm_->pid_text(), "--java", "--format", "json"};
    all.insert(all.end(), words.begin(), words.end());
    std::size_t with_frame = 0;
    const json document = json::parse(must(run_jtrace(all)).out);
    for (const json& row : document["data"])
      if (row["frames"].dump().find("PlainFacts$SlowVirtual") != std::string::npos) ++with_frame;
    EXPECT_EQ(with_frame, 1u) << words.size();
  }
  EXPECT_TRUE(jvm_->alive());
}

// Each lambda's class has a ClassLoaderData of its own, which is not a loader.
TEST_P(Facts, OfLoadersAreEachNamedOnce) {
  start();
  must(jvm_->ask("spin"));
  const json loaders = json::parse(inspect({"loaders", "--format", "json"}).out)["data"];
  const json classes = json::parse(inspect({"classes", "--format", "json"}).out)["data"];
  std::set<std::string> names;
  std::size_t sum = 0;
  for (const json& loader : loaders) {
    EXPECT_TRUE(names.insert(loader["object"].get<std::string>()).second) << loader;
    EXPECT_LT(loader["hidden"], loader["classes"]);
    sum += loader["classes"].get<std::size_t>();
  }
  EXPECT_TRUE(names.contains("")) << "the boot loader has no object";
  EXPECT_EQ(sum, classes.size());
}

TEST_P(Facts, OfAProfileAreStacksWithTheirRootOrMarkedAsCut) {
  start();
  must(jvm_->ask("spin"));
  const auto done = must(run_jtrace({"profile", jvm_->pid_text(), "--ptrace", "--wall", "--hz", "20", "--duration", "1",
                                     "--max-share", "50", "-o", "-"}));
  EXPECT_EQ(done.status, 0) << done.err;
  std::size_t stacks = 0;
  for (const std::string_view line : split(done.out, '\n')) {
    const auto frames = split(line.substr(0, line.rfind(' ')), ';');
    if (frames.size() < 2 || frames[0] != "spinner") continue;
    ++stacks;
    if (frames[1] == "[cut stack]") continue;
    EXPECT_TRUE(frames[1].find("libc.so.6") != frames[1].npos || frames[1].find("clone") != frames[1].npos ||
                frames[1].find("start_thread") != frames[1].npos)
        << line;
  }
  EXPECT_GE(stacks, 1u);
}

}  // namespace
}  // namespace jtrace::test
