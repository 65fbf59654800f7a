#include "session/trace_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/record/control.h"

namespace jtrace::session {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using trace::record::kAllocationEvent;
using trace::record::kMethodEvent;

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(TraceSummary, ATraceThatGrowsFastSaysHowToMakeItSmaller) {
  const TraceSummary many{.events = 6'900'000, .bytes = 600'000'000, .elapsed = 30 * kSecond};
  EXPECT_THAT(advice_of_size(many, kMethodEvent, false),
              AllOf(StartsWith("230000 events and 19.1 MiB a second: --slower-than 10ms"), HasSubstr("--events counts"),
                    HasSubstr("or a narrower --filter makes the trace smaller")));
  const TraceSummary large{.events = 1000, .bytes = 3'000'000'000, .elapsed = 30 * kSecond};
  EXPECT_THAT(advice_of_size(large, kMethodEvent, false), HasSubstr("95.4 MiB a second"));
}

TEST(TraceSummary, TheAdviceIsOfWhatWasTraced) {
  const TraceSummary many{.events = 9'000'000, .bytes = 1, .elapsed = 30 * kSecond};
  for (const std::string& text :
       {advice_of_size(many, kMethodEvent, true), advice_of_size(many, kAllocationEvent, false)})
    EXPECT_THAT(text, AllOf(HasSubstr("a second: a narrower --filter"), Not(HasSubstr("--slower-than"))));
}

TEST(TraceSummary, ASmallTraceGetsNoAdvice) {
  EXPECT_EQ(advice_of_size({.events = 100'000, .bytes = 10'000'000, .elapsed = kSecond}, kMethodEvent, false), "");
  EXPECT_EQ(advice_of_size({.events = 100'000, .bytes = 10'000'000, .elapsed = kSecond / 10}, kMethodEvent, false), "")
      << "too short for a rate";
}

}  // namespace
}  // namespace jtrace::session
