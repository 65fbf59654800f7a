// objAlloc of the objects that traced methods make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "tests/live/method_calls.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

class MethodAllocations : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(MethodAllocations);

// Each objAlloc by its type: "isArray class".
struct Allocations {
  std::map<std::string, std::size_t> by_type;
  std::map<std::string, std::set<std::string>> places;  // contextData
  std::set<std::string> objects, freed;
};

Allocations allocations_of(const TraceDocument& trace) {
  std::map<std::string, std::string> classes;
  for (const TraceElement* each : trace.all("classDef")) classes[each->get("classId")] = each->get("name");
  Allocations found;
  for (const TraceElement* each : trace.all("objAlloc")) {
    std::string type = each->get("isArray");
    if (each->has("classIdRef")) type += " " + classes[each->get("classIdRef")];
    ++found.by_type[type];
    found.places[type].insert(each->get("contextData"));
    found.objects.insert(each->get("objId"));
  }
  for (const TraceElement* each : trace.all("objFree")) found.freed.insert(each->get("objIdRef"));
  return found;
}

const std::vector<std::string> kOnlyAllocate{
    "--when-full",        "block",    "--block-limit", "10000", "--filter", "Calls allocate include", "--filter",
    "Calls$Base include", "--filter", "* exclude"};
using Counts = std::map<std::string, std::size_t>;

TEST_P(MethodAllocations, EveryObjectThatTheCodeMakesIsRecorded) {
  TracedJvm jvm(GetParam(), "Calls", with({"--events", "allocations"}, kOnlyAllocate));
  jvm.wait_rewritten();
  jvm.ask("allocate 300");
  jvm.ask("gc 1");
  const Counts expected{{"0 Calls$Base", 300},
                        {"0 java/lang/IllegalArgumentException", 300},
                        {"2 java/lang/Object", 1},
                        {"2 java/lang/String", 300},
                        {"10", 300},
                        {"2 [Z", 300},
                        {"4", 900},
                        {"2 [[LCalls$Base;", 300},
                        {"2 [LCalls$Base;", 600}};
  std::size_t all = 0;
  for (const auto& [type, count] : expected) all += count;
  await_elements(jvm.run(), "objFree", all);
  const TraceDocument trace = jvm.finish_valid();
  const Allocations made = allocations_of(trace);
  EXPECT_EQ(made.by_type, expected);
  EXPECT_EQ(made.objects.size(), all);
  EXPECT_EQ(made.freed, made.objects);
  // Each object is made in one line; those of allocate() follow each other.
  std::vector<long> lines;
  for (const char* type :
       {"2 java/lang/Object", "0 Calls$Base", "10", "2 java/lang/String", "2 [Z", "2 [[LCalls$Base;"}) {
    ASSERT_EQ(made.places.at(type).size(), 1u) << type;
    const std::string& place = *made.places.at(type).begin();
    EXPECT_THAT(place, ::testing::MatchesRegex("Calls.allocate:[0-9]+"));
    lines.push_back(std::strtol(place.c_str() + place.find(':') + 1, nullptr, 10));
  }
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end(), std::less_equal<>()));
  EXPECT_EQ(made.places.at("4"), made.places.at("2 [Z"));
  EXPECT_THAT(*made.places.at("0 java/lang/IllegalArgumentException").begin(),
              ::testing::StartsWith("Calls$Base.<init>:"));
  std::set<std::uint64_t> sizes;
  for (const TraceElement* each : trace.all("objAlloc"))
    if (each->get("isArray") == "10") sizes.insert(each->number("size"));
  EXPECT_GE(*sizes.rbegin(), 299u * 4);
  EXPECT_GE(sizes.size(), 100u);
  EXPECT_THAT(trace.option("jtrace.rewritten"), HasSubstr("unseenNews=0"));
  EXPECT_EQ(jvm.err(), "");
  record_support(GetParam(), "G1", "live", "allocations by bytecode");

  // With stacks, and with receivers: an object is known from the first of its constructors that is traced, even if its
  // construction is refused.
  auto second = must(TraceRun::start(
      jvm.pid(), with({"--events", "allocations,methods", "--objects", "--stack-depth", "4"}, kOnlyAllocate)));
  ASSERT_TRUE(rewritten(*second));
  jvm.ask("allocate 20");
  auto trace2 = must(second->finish());
  EXPECT_TRUE(none(trace2.faults()));
  EXPECT_TRUE(none(call_faults(trace2)));
  EXPECT_TRUE(valid(second->path()));
  const Allocations both = allocations_of(trace2);
  EXPECT_EQ(both.by_type.at("0 Calls$Base"), 40u);
  EXPECT_EQ(both.by_type.at("4"), 60u);
  EXPECT_EQ(trace2.count("objDef"), 0u);
  for (const std::string& place : both.places.at("0 Calls$Base"))
    EXPECT_THAT(place,
                ::testing::MatchesRegex("Calls.Base.<init>:[0-9]+;Calls.allocate:[0-9]+;Calls.answer:[0-9]+;.*"));
  for (const std::string& place : both.places.at("10"))
    EXPECT_THAT(place, ::testing::MatchesRegex("Calls.allocate:[0-9]+;Calls.answer:[0-9]+;Calls.main:[0-9]+"));
}

}  // namespace
}  // namespace jtrace::test
