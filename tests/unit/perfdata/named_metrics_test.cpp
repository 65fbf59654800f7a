// The same values under each convention's names, as text and as a request of OTLP.
#include "perfdata/named_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_reader.h"
#include "perfdata/otlp_json.h"
#include "perfdata/region_writer.h"

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

// With and without states are different series: a server that gets both for a while adds them up.
TEST(NamedMetrics, CountThreadsWithStatesOrNotAtAllWhereStatesAreAsked) {
  NamedJvm jvm = some_jvm();
  EXPECT_THAT(page(jvm, Naming::kOtel), HasSubstr("jvm_thread_daemon=\"true\"} 1\n"));
  jvm.asks_inner = true;
  EXPECT_THAT(page(jvm, Naming::kOtel), Not(HasSubstr("jvm_thread_count")));
  EXPECT_THAT(page(jvm, Naming::kMicrometer), HasSubstr("jvm_threads_daemon_threads"));
  jvm.inner.threads.emplace();
  jvm.inner.threads->user = {0, 1, 0, 0, 0, 0};  // the beans have two
  jvm.inner.threads->daemon = {0, 0, 0, 1, 0, 0};
  EXPECT_THAT(page(jvm, Naming::kOtel), Not(HasSubstr("jvm_thread_count")));
  ++jvm.inner.threads->user[1];
  EXPECT_THAT(page(jvm, Naming::kOtel), HasSubstr("jvm_thread_daemon=\"false\",jvm_thread_state=\"runnable\"} 2\n"));
  jvm.inner = {.problem = Error{.category = ErrorCategory::kPermission, .text = "no"}};
  EXPECT_THAT(page(jvm, Naming::kOtel), HasSubstr("jvm_thread_daemon=\"true\"} 1\n")) << "it never has states";
  jvm.inner.problem->category = ErrorCategory::kTimeout;
  EXPECT_THAT(page(jvm, Naming::kOtel), Not(HasSubstr("jvm_thread_count")));
}

// A look at collectors 0 and 2, which have ended `young` and `phases` pauses; the last ones took 5 ms, the phase last.
void observe(GcDurations& durations, std::int64_t young, std::int64_t phases) {
  RegionWriter writer;
  writer.add_text("sun.gc.policy.name", "GarbageFirst").add_text("sun.gc.cause", "No GC");
  writer.add_text("sun.gc.lastCause", "G1 Evacuation Pause");
  writer.add_text("sun.gc.collector.0.name", "G1 young collection pauses");
  writer.add_text("sun.gc.collector.2.name", "G1 concurrent cycle pauses");
  const auto add = [&](const std::string& stem, std::int64_t count, std::int64_t entry) {
    writer.add_long(stem + ".invocations", count).add_long(stem + ".time", count * 5'000'000);
    writer.add_long(stem + ".lastEntryTime", entry).add_long(stem + ".lastExitTime", entry + 5'000'000);
  };
  add("sun.gc.collector.0", young, young * 100'000'000);
  add("sun.gc.collector.2", phases, phases * 100'000'000 + 50'000'000);
  const auto bytes = writer.bytes();
  durations.observe({bytes, std::make_shared<const Layout>(std::move(*Layout::parse(bytes)))});
}

TEST(NamedMetrics, CountTheMissedPausesOfTheBeansThatAreShown) {
  GcDurations durations;
  observe(durations, 1, 1);
  observe(durations, 4, 11);
  NamedJvm jvm = some_jvm();
  jvm.durations = &durations;
  const std::string name = "hsperf_gc_pauses_missed_total{pid=\"7\",main=\"app.Main\"} ";
  EXPECT_THAT(page(jvm, Naming::kOtel), HasSubstr(name + "2\n"));
  jvm.beans.collectors.push_back({"G1 Concurrent GC", "end of concurrent GC pause", 2, 11, 0.055, true});
  EXPECT_THAT(page(jvm, Naming::kOtel), HasSubstr(name + "11\n"));
  jvm.beans.lacks_pauses = true;  // CMS
  EXPECT_THAT(page(jvm, Naming::kOtel), Not(HasSubstr(name)));
  jvm.beans.lacks_pauses = false;
  jvm.beans.collectors.clear();  // Shenandoah
  EXPECT_THAT(page(jvm, Naming::kOtel), Not(HasSubstr(name)));
}

// As JvmGcMetrics, which takes what has no cause for concurrent.
TEST(NamedMetrics, GiveMicrometersPausesWithoutPhasesOfConcurrentCycles) {
  GcDurations durations;
  observe(durations, 1, 1);
  observe(durations, 2, 2);
  NamedJvm jvm = some_jvm();
  jvm.durations = &durations;
  jvm.beans.collectors.push_back({"G1 Concurrent GC", "end of concurrent GC pause", 2, 2, 0.01, true});
  const std::string text = page(jvm, Naming::kMicrometer);
  const std::string young =
      "{pid=\"7\",application=\"app.Main\",gc=\"G1 Young Generation\",action=\"end of minor GC\",";
  const std::string phase =
      "{pid=\"7\",application=\"app.Main\",gc=\"G1 Concurrent GC\",action=\"end of concurrent GC pause\",";
  EXPECT_THAT(text, HasSubstr("jvm_gc_pause_seconds_count" + young + "cause=\"G1 Evacuation Pause\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("jvm_gc_pause_seconds_count" + phase)));
  EXPECT_THAT(text, Not(HasSubstr("jvm_gc_pause_seconds_max" + phase)));
  for (const char* cause : {"No GC", "unknown"})
    EXPECT_THAT(text, HasSubstr("jvm_gc_concurrent_phase_time_seconds_count" + phase + "cause=\"" + cause + "\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("jvm_gc_concurrent_phase_time_seconds_max" + phase + "cause=\"No GC\"} 0.005\n"));
  EXPECT_THAT(text, Not(HasSubstr("jvm_gc_concurrent_phase_time_seconds_count" + young)));
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

TEST(OtlpRequest, HasNoStartThatIsNoTime) {
  NamedJvm jvm = some_jvm();
  for (const double odd : {-1.0, 0.0, 1e300, -9.2e15}) {
    jvm.beans.start_seconds = odd;
    const std::string text = otlp_request(std::span(&jvm, 1), 5'000'000'000, "here");
    EXPECT_THAT(text, Not(HasSubstr("startTimeUnixNano"))) << odd;
    EXPECT_THAT(text, HasSubstr(R"("here:7:")")) << odd;
  }
  jvm.beans.start_seconds = 1732735815.313;  // whose milliseconds are no whole number as a double
  EXPECT_THAT(otlp_request(std::span(&jvm, 1), 5'000'000'000, "here"), HasSubstr("\"1732735815313000000\""));
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
