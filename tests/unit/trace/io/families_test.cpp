// Each family of facts (families.def) has an amount: of two producers that record all of them, one is chosen for each,
// and the other is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "trace/io/statistics.h"

namespace jtrace::trace::io {
namespace {

Time at(std::uint64_t seconds) { return Time(seconds * 1'000'000'000); }

// Something of every family. A snapshot has stacks, counters and a heap, a trace the rest.
std::vector<Event> all_of(const char* agent, const char* kind) {
  std::vector<Event> events = {AgentCreate{.agentId = agent, .processIdRef = "p", .agentName = agent, .time = at(0)},
                               TraceStart{.traceId = agent, .agentIdRef = agent, .time = at(0)}};
  if (kind != nullptr) events.push_back(Option{.key = "jtrace.kind", .value = kind});
  events.push_back(ThreadStart{.threadId = ThreadId(1), .time = at(1), .threadName = "main"});
  events.push_back(MethodEntry{.threadIdRef = ThreadId(1), .time = at(1), .methodIdRef = MethodId(1)});
  events.push_back(Throw{.threadId = ThreadId(1), .time = at(1)});
  events.push_back(MonWait{.threadIdRef = ThreadId(1), .time = at(1)});
  events.push_back(GcStart{.time = at(2)});
  events.push_back(GcFinish{.time = at(3)});
  events.push_back(ObjAlloc{.threadIdRef = ThreadId(1), .time = at(3)});
  events.push_back(Value{.name = "A", .serializationFormat = "histogram instances=1", .value = "16"});
  events.push_back(Value{.name = "counter", .value = "1"});
  events.push_back(TraceEnd{.traceIdRef = agent, .time = at(4)});
  return events;
}

TEST(Families, EachHasAnAmountThatIsNamedIfItIsNotAdded) {
  Statistics statistics;
  for (const char* agent : {"a", "b"})
    for (const Event& event : all_of(agent, nullptr)) ASSERT_TRUE(statistics.write(event));
  for (const char* agent : {"c", "d"})
    for (const Event& event : all_of(agent, "snapshot")) ASSERT_TRUE(statistics.write(event));
  ASSERT_TRUE(statistics.finish());
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    EXPECT_NE(statistics.chosen("p", family), nullptr) << family_name(family);
    EXPECT_FALSE(statistics.not_chosen("p", family).empty()) << family_name(family);
    EXPECT_THAT(statistics_json(statistics, "input", 20),
                testing::HasSubstr("\"family\":\"" + std::string(family_name(family)) + "\""));
  }
}

TEST(Families, EachHasANameOfItsOwn) {
  EXPECT_EQ(std::set<std::string_view>(std::begin(kFamilyNames), std::end(kFamilyNames)).size(), kFamilyCount);
  EXPECT_EQ(family_name(Family::kThreads), "threads");
  EXPECT_EQ(family_name(Family::kStacks), "stacks");
}

// "no pauses" of a trace that would have them, nothing of one that was not asked for them.
TEST(Families, NoPausesAreSaidWherePausesWereAskedFor) {
  for (const auto& [key, value, words] :
       {std::tuple("events", "threads,gc", "\n  no pauses\n"),
        std::tuple("hsperf.gcInterval", "10000000", "\n  no pauses\n"), std::tuple("events", "threads", "")}) {
    Statistics statistics;
    const std::vector<Event> events = {AgentCreate{.agentId = "a", .processIdRef = "p", .time = at(0)},
                                       TraceStart{.traceId = "t", .agentIdRef = "a", .time = at(0)},
                                       Option{.key = key, .value = value, .traceIdRef = "t"},
                                       TraceEnd{.traceIdRef = "t", .time = at(4)}};
    for (const Event& event : events) ASSERT_TRUE(statistics.write(event));
    ASSERT_TRUE(statistics.finish());
    const bool asked = *words != '\0';
    EXPECT_THAT(statistics_text(statistics, 20), testing::HasSubstr(words)) << value;
    EXPECT_EQ(statistics_json(statistics, "input", 20).find("\"gc\":{") != std::string::npos, asked) << value;
    EXPECT_EQ(statistics_text(statistics, 20).find("no pauses") != std::string::npos, asked) << value;
    EXPECT_EQ(statistics.chosen("p", Family::kGc), nullptr);
    EXPECT_EQ(statistics.watcher_of_pauses("p") != nullptr, asked);
  }
}

}  // namespace
}  // namespace jtrace::trace::io
