// Which processes are looked at for a new JVM, and how often.
#include "sampling/process_looks.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

// Rounds in which the process has that program; how often it was looked at.
int looks_in(ProcessLooks& looks, int rounds, const std::string& program) {
  int count = 0;
  for (; rounds > 0; --rounds) {
    count += looks.is_due(7, program);
    looks.end_round();
  }
  return count;
}

TEST(ProcessLooks, AreSomeAtEachProgram) {
  ProcessLooks looks;
  EXPECT_EQ(looks_in(looks, 50, "sh -c java"), ProcessLooks::kMost);
  EXPECT_EQ(looks_in(looks, 50, "java -jar app.jar"), ProcessLooks::kMost) << "the shell has become a JVM";
  EXPECT_EQ(looks_in(looks, 50, "java -jar app.jar"), 0);
}

TEST(ProcessLooks, AreOverWhenItIsSampled) {
  ProcessLooks looks;
  looks.done(7);
  EXPECT_EQ(looks_in(looks, 3, "java"), 0);
  EXPECT_EQ(looks_in(looks, 3, "renamed"), 0);
}

TEST(ProcessLooks, BeginAgainWithAnotherProcessOfThatNumber) {
  ProcessLooks looks;
  looks.done(7);
  looks.end_round();
  looks.end_round();  // it was not there
  EXPECT_EQ(looks_in(looks, 3, "java"), 3);
}

TEST(ProcessLooks, TellOfAFailureOnceAndAtTheLastOne) {
  ProcessLooks looks;
  for (int i = 0; i < ProcessLooks::kMost - 1; ++i) EXPECT_TRUE(looks.is_due(7, "java"));
  EXPECT_FALSE(looks.needs_report(7)) << "its VM may be up soon";
  EXPECT_TRUE(looks.is_due(7, "java"));
  EXPECT_TRUE(looks.needs_report(7));
  looks.reported(7);
  EXPECT_FALSE(looks.needs_report(7));
}

}  // namespace
}  // namespace jtrace::sampling
