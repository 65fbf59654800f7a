// The same values under each convention's names, as text and as a request of OTLP.
#include "perfdata/named_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "perfdata/otlp_json.h"

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

NamedJvm some_jvm() {
  NamedJvm jvm;
  jvm.pid = 7;
  jvm.main = "app.Main";
  jvm.beans.pools = {{"G1 Old Gen", 5, 10, std::nullopt}};
  jvm.beans.collectors = {{"G1 Young Generation", "end of minor GC", 0, 2, 0.5}};
  jvm.beans.threads = 3;
  jvm.beans.daemon_threads = 1;
  jvm.beans.loaded_classes = std::int64_t{1} << 60;
  jvm.beans.start_seconds = 1000.25;
  jvm.process.cpu_seconds = 1.5;
  jvm.inner.code_heaps = {{"CodeHeap 'non-nmethods'", 1, 2, 3}};
  return jvm;
}

std::string page(const NamedJvm& jvm, Naming naming) {
  std::string text;
  append_named_metrics(text, std::span(&jvm, 1), naming, MetricsFormat::kPrometheus);
  return text;
}

TEST(NamedMetrics, SpellAreasAndStatesAsTheConventionsDo) {
  NamedJvm jvm = some_jvm();
  jvm.inner.threads.emplace();
  jvm.inner.threads->user = {0, 1, 0, 0, 1, 0};
  jvm.inner.threads->daemon = {0, 0, 0, 1, 0, 0};
  const std::string pool = "CodeHeap 'non-nmethods'\"} 1\n";
  EXPECT_THAT(page(jvm, Naming::kOtel),
              HasSubstr("jvm_memory_used_bytes{pid=\"7\",main=\"app.Main\",jvm_memory_type=\"non_heap\","
                        "jvm_memory_pool_name=\"" +
                        pool));
  EXPECT_THAT(page(jvm, Naming::kOtel),
              HasSubstr("jvm_thread_daemon=\"false\",jvm_thread_state=\"timed_waiting\"} 1\n"));
  EXPECT_THAT(page(jvm, Naming::kMicrometer), HasSubstr("area=\"nonheap\",id=\"" + pool));
  EXPECT_THAT(page(jvm, Naming::kMicrometer), HasSubstr("jvm_threads_states_threads{pid=\"7\",application=\"app.Main\","
                                                        "state=\"timed-waiting\"} 1\n"));
  EXPECT_THAT(page(jvm, Naming::kClientJava),
              HasSubstr("jvm_threads_state{pid=\"7\",main=\"app.Main\",state=\"WAITING\"} 1\n"));
}

TEST(NamedMetrics, LeaveOutStatesThatAreNotThoseOfTheSameMoment) {
  NamedJvm jvm = some_jvm();
  jvm.inner.threads.emplace();
  jvm.inner.threads->user = {0, 1, 0, 0, 0, 0};  // the beans have two
  jvm.inner.threads->daemon = {0, 0, 0, 1, 0, 0};
  EXPECT_THAT(page(jvm, Naming::kMicrometer), Not(HasSubstr("states_threads")));
  EXPECT_THAT(page(jvm, Naming::kOtel), HasSubstr("jvm_thread_daemon=\"true\"} 1\n"));
}

const JsonValue* metric_of(const JsonValue& request, std::string_view name) {
  const JsonValue& metrics = request["resourceMetrics"].items().at(0)["scopeMetrics"].items().at(0)["metrics"];
  for (const JsonValue& each : metrics.items())
    if (each["name"].text() == name) return &each;
  return nullptr;
}

TEST(OtlpRequest, HasSumsWithTextsForNumbersOfSixtyFourBits) {
  const NamedJvm jvm = some_jvm();
  const auto request = JsonValue::parse(otlp_request(std::span(&jvm, 1), 5'000'000'000, "here"));
  ASSERT_TRUE(request) << request.error().message();
  const JsonValue* loaded = metric_of(*request, "jvm.class.loaded");
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ((*loaded)["unit"].text(), "{class}");
  EXPECT_EQ((*loaded)["sum"]["aggregationTemporality"].number(), 2);
  EXPECT_TRUE((*loaded)["sum"]["isMonotonic"].truth());
  const JsonValue& point = (*loaded)["sum"]["dataPoints"].items().at(0);
  EXPECT_EQ(point["asInt"].text(), "1152921504606846976");
  EXPECT_EQ(point["startTimeUnixNano"].text(), "1000250000000");
  EXPECT_EQ(point["timeUnixNano"].text(), "5000000000");
  EXPECT_FALSE(point.has("attributes"));
  const JsonValue* used = metric_of(*request, "jvm.memory.used");
  ASSERT_NE(used, nullptr);
  EXPECT_FALSE((*used)["sum"]["isMonotonic"].truth());
  const JsonValue& area = (*used)["sum"]["dataPoints"].items().at(1)["attributes"].items().at(0);
  EXPECT_EQ(area["key"].text() + "=" + area["value"]["stringValue"].text(), "jvm.memory.type=non_heap");
  const JsonValue* cpu = metric_of(*request, "jvm.cpu.time");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ((*cpu)["sum"]["dataPoints"].items().at(0)["asDouble"].number(), 1.5);
  EXPECT_EQ(metric_of(*request, "jvm.gc.duration"), nullptr) << "no pauses were watched";
}

TEST(OtlpRequest, NamesTheProcessInTheResource) {
  const NamedJvm jvm = some_jvm();
  const std::string text = otlp_request(std::span(&jvm, 1), 5'000'000'000, "here");
  EXPECT_THAT(text, HasSubstr(R"({"key":"service.name","value":{"stringValue":"app.Main"}})"));
  EXPECT_THAT(text, HasSubstr(R"({"key":"service.instance.id","value":{"stringValue":"here:7:1000250000000"}})"));
  EXPECT_THAT(text, HasSubstr(R"({"key":"process.pid","value":{"intValue":"7"}})"));
  EXPECT_THAT(text, HasSubstr(R"({"key":"host.name","value":{"stringValue":"here"}})"));
}

}  // namespace
}  // namespace jtrace::perfdata
