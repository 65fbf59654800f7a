#include "dtrace/trace/probe_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/record/control.h"
#include "trace/record/event_names.h"

namespace jtrace::dtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> limits(int jdk, const std::string& probe, const std::vector<std::string>& switched) {
  Libjvm libjvm;
  libjvm.feature = jdk;
  const Probe chosen{.provider = "hotspot", .name = probe, .sites = {}, .description = {}};
  return limits_of_probes(libjvm, {&chosen}, switched);
}

TEST(ProbeLimits, AreThoseOfFlagsThatWereSwitchedOnLate) {
  EXPECT_THAT(limits(21, "object__alloc", {}), IsEmpty());
  EXPECT_THAT(limits(21, "object__alloc", {"DTraceMethodProbes"}), IsEmpty());
  EXPECT_THAT(limits(21, "object__alloc", {"DTraceAllocProbes"}), ElementsAre(HasSubstr("interpreted")));
  EXPECT_THAT(limits(25, "object__alloc", {"DTraceAllocProbes"}), ElementsAre(HasSubstr("only what leaves")));
  EXPECT_THAT(limits(25, "method__return", {"DTraceMethodProbes"}), ElementsAre(HasSubstr("compiled after that")));
  EXPECT_THAT(limits(8, "method__entry", {"DTraceMethodProbes"}), ElementsAre(HasSubstr("compiled before that")));
}

TEST(ProbeLimits, NameTheJdksWhoseSizesAreWrong) {
  for (const int jdk : {11, 17}) EXPECT_THAT(limits(jdk, "object__alloc", {}), ElementsAre(HasSubstr("sizes"))) << jdk;
  for (const int jdk : {8, 21, 25, 27}) EXPECT_THAT(limits(jdk, "object__alloc", {}), IsEmpty()) << jdk;
}

TEST(ProbeLimits, AreReadByTheNamesOfTheEvents) {
  const auto lines = limits(17, "object__alloc", {"DTraceAllocProbes"});
  ASSERT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) EXPECT_EQ(trace::record::events_lacking(line), trace::record::kObjAllocEvent);
  EXPECT_EQ(trace::record::events_lacking(limits(17, "method__entry", {"DTraceMethodProbes"}).at(0)),
            trace::record::kMethodEvent);
}

}  // namespace
}  // namespace jtrace::dtrace
