#include "session/jvm_death.h"

#include <gtest/gtest.h>

namespace jtrace::session {
namespace {

// The beginning of a report of JDK 17.
constexpr std::string_view kReport =
    "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
    "#  SIGSEGV (0xb) at pc=0x00007f025d9b7b8e, pid=7, tid=9\n#\n# JRE version: OpenJDK Runtime Environment (17)\n"
    "# Problematic frame:\n# V  [libjvm.so+0xbb7b8e]  Method::checked_resolve_jmethod_id(_jmethodID*)+0xe\n#\n";

TEST(JvmDeath, TheCauseIsTheSignalAndTheFrame) {
  EXPECT_EQ(cause_in_report(kReport),
            "SIGSEGV in V  [libjvm.so+0xbb7b8e]  Method::checked_resolve_jmethod_id(_jmethodID*)+0xe");
  EXPECT_EQ(cause_in_report("#\n# A fatal error\n#\n#  Internal Error (a.cpp:12), pid=7, tid=9\n#\n"),
            "Internal Error (a.cpp:12)");
  EXPECT_EQ(cause_in_report(""), "");
  EXPECT_EQ(cause_in_report("some other file\n"), "");
}

TEST(JvmDeath, TheAgentIsNamedWhereTheFailingThreadWasInIt) {
  const std::string report(kReport);
  EXPECT_TRUE(names_agent(report + "Native frames: (J=...)\nV  [libjvm.so]\n\nJava frames:\nJ 1  "
                                   "java.lang.JTraceProbes11.slow(JJ)J\n\nsiginfo: x\n"));
  for (const char* name : {"JTracePreciseSlowCpuProbes11.enter(J)V", "JTraceWaits2.before(I)V", "JTraceJvmpi1.in()V"})
    EXPECT_TRUE(names_agent(report + "Native frames: (J=...)\nJ 1  java.lang." + name + "\n\nsiginfo: x\n")) << name;
  EXPECT_FALSE(names_agent(report + "Native frames: (J=...)\nV  [libjvm.so]\n\nsiginfo: x\n\n"
                                    "Dynamic libraries:\nlibjtrace_agent.so\n"));
  EXPECT_FALSE(names_agent(report));
}

TEST(JvmDeath, AnEndIsASignalOrAStatusOrNotKnown) {
  EXPECT_EQ(end_of(9), "was killed by SIGKILL");
  EXPECT_EQ(end_of(0x80 | 6), "was killed by SIGABRT");
  EXPECT_EQ(end_of(3 << 8), "exited with status 3");
  EXPECT_EQ(end_of(std::nullopt), "was killed");
}

TEST(JvmDeath, PatternsAreExpandedByPidAndName) {
  EXPECT_EQ(expanded("/srv/hs_%p_%%_%e.log", 42, "java"), "/srv/hs_42_%_java.log");
  EXPECT_EQ(expanded("core.%t%", 42, "java"), "core.%t%");
}

}  // namespace
}  // namespace jtrace::session
