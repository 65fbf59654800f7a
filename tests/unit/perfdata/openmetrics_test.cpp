#include "perfdata/openmetrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/http_server.h"
#include "perfdata/region_writer.h"
#include "target/buffer_memory.h"
#include "tests/testlib/must.h"

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Snapshot snapshot_of(const RegionWriter& writer) {
  const auto bytes = writer.bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot);
  return std::move(*snapshot);
}

RegionWriter region(std::int64_t collections) {
  RegionWriter writer;
  writer.add_text("sun.rt.javaCommand", "app.Main secret arguments")
      .add_text("java.rt.vmArgs", "-Dpassword=x")
      .add_text("sun.gc.collector.0.name", "Copy \"quoted\"\nand\\more")
      .add_long("sun.gc.collector.0.invocations", collections, Units::kEvents, Variability::kMonotonic)
      .add_long("sun.gc.collector.0.time", 1'500'000'000, Units::kTicks, Variability::kMonotonic)
      .add_long("sun.gc.generation.0.space.2.used", 77, Units::kBytes)
      .add_long("java.threads.live", 5);
  return writer;
}

TEST(MetricName, NumbersBecomeLabelsAndNamesSnakeCase) {
  EXPECT_EQ(metric_name("sun.gc.generation.0.space.1.maxCapacity").name, "hsperf_sun_gc_generation_space_max_capacity");
  EXPECT_EQ(metric_name("sun.gc.generation.0.space.1.maxCapacity").labels, "generation=\"0\",space=\"1\"");
  EXPECT_EQ(metric_name("sun.rt._sync_MonExtant").name, "hsperf_sun_rt_sync_mon_extant");
  EXPECT_EQ(metric_name("sun.cls.classInitTime.self").name, "hsperf_sun_cls_class_init_time_self");
  EXPECT_EQ(metric_name("a.URLThing\xff.1x").name, "hsperf_a_url_thing_1x");
  EXPECT_EQ(metric_name("sun.rt._sync_PrivateB").name, "hsperf_sun_rt_sync_privateb");
  EXPECT_EQ(metric_name("").name, "hsperf");
  EXPECT_EQ(metric_name("7.8").labels, "index=\"7\",index=\"8\"");
}

TEST(OpenMetrics, FamiliesStandTogetherOverAllJvms) {
  const Snapshot first = snapshot_of(region(3)), second = snapshot_of(region(4));
  MetricsWriter writer({});
  writer.add(first, 10);
  writer.add(second, 20);
  std::string out;
  writer.append(out, {&first, &second}, MetricsFormat::kOpenMetrics);
  EXPECT_THAT(out,
              HasSubstr("# HELP hsperf_sun_gc_collector_invocations HotSpot counter sun.gc.collector.0.invocations\n"
                        "# TYPE hsperf_sun_gc_collector_invocations counter\n"
                        "hsperf_sun_gc_collector_invocations_total{pid=\"10\",main=\"app.Main\",collector=\"0\"} 3\n"
                        "hsperf_sun_gc_collector_invocations_total{pid=\"20\",main=\"app.Main\",collector=\"0\"} 4\n"));
  EXPECT_THAT(out, HasSubstr("# UNIT hsperf_sun_gc_collector_time_seconds seconds\n"));
  EXPECT_THAT(
      out, HasSubstr("hsperf_sun_gc_collector_time_seconds_total{pid=\"10\",main=\"app.Main\",collector=\"0\"} 1.5\n"));
  EXPECT_THAT(
      out,
      HasSubstr(
          "hsperf_sun_gc_generation_space_used_bytes{pid=\"10\",main=\"app.Main\",generation=\"0\",space=\"2\"} 77\n"));
  EXPECT_THAT(out, HasSubstr("collector=\"0\",value=\"Copy \\\"quoted\\\"\\nand\\\\more\"} 1\n"));
  EXPECT_TRUE(out.ends_with("# EOF\n"));
}

TEST(OpenMetrics, PrometheusTextDiffers) {
  const Snapshot snapshot = snapshot_of(region(3));
  MetricsWriter writer({});
  writer.add(snapshot, 10);
  std::string out;
  writer.append(out, {&snapshot}, MetricsFormat::kPrometheus);
  EXPECT_THAT(out, HasSubstr("# TYPE hsperf_sun_gc_collector_invocations_total counter\n"));
  EXPECT_THAT(out, HasSubstr("# TYPE hsperf_sun_gc_collector_name_info gauge\n"));
  EXPECT_THAT(out, Not(HasSubstr("# UNIT")));
  EXPECT_THAT(out, Not(HasSubstr("# EOF")));
}

TEST(OpenMetrics, ArgumentsAreKeptOutUnlessAskedFor) {
  const Snapshot snapshot = snapshot_of(region(3));
  for (const bool asked : {false, true}) {
    MetricsWriter writer({.arguments = asked});
    writer.add(snapshot, 10);
    std::string out;
    writer.append(out, {&snapshot}, MetricsFormat::kOpenMetrics);
    EXPECT_EQ(out.find("secret arguments") != out.npos, asked);
    EXPECT_EQ(out.find("-Dpassword=***") != out.npos, asked);
    EXPECT_EQ(out.find("password=x"), out.npos);
  }
}

TEST(OpenMetrics, WhatIsNotThereIsLeftOut) {
  const Snapshot first = snapshot_of(region(3)), other = snapshot_of(RegionWriter().add_long("x", 1));
  MetricsWriter writer({});
  writer.add(first, 10);
  std::string out;
  writer.append(out, {nullptr}, MetricsFormat::kOpenMetrics);
  EXPECT_EQ(out, "# EOF\n");
  out.clear();
  writer.append(out, {&other}, MetricsFormat::kOpenMetrics);
  EXPECT_EQ(out, "# EOF\n");
  EXPECT_FALSE(writer.is_current(0, other));
}

TEST(HttpRequest, IsReadAsFarAsItIsThere) {
  HttpRequest request;
  EXPECT_FALSE(parse_http_request("GET /metrics HTTP/1.1\r\nHost: x\r\n", request));
  EXPECT_TRUE(parse_http_request("GET /metrics?a=b HTTP/1.1\r\nHOST:  x \r\naccept: a/b\r\n\r\n", request));
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/metrics");
  EXPECT_EQ(request.host, "x");
  EXPECT_EQ(request.accept, "a/b");
  HttpRequest nonsense;
  EXPECT_TRUE(parse_http_request("\r\n\r\n", nonsense));
  EXPECT_EQ(nonsense.method, "");
}

TEST(HttpServer, AddressesAreChecked) {
  const auto handler = [](const HttpRequest&) { return HttpResponse{}; };
  for (const char* wrong : {"", "127.0.0.1", "127.0.0.1:x", "300.0.0.1:1", "[::1:1", "host:1", "127.0.0.1:70000"})
    EXPECT_EQ(exit_status(HttpServer::listen(wrong, handler).error()), ExitStatus::kUsage) << wrong;
  auto server = test::must(HttpServer::listen("127.0.0.1:0", handler));
  EXPECT_TRUE(server.is_loopback());
  EXPECT_THAT(server.address(), testing::MatchesRegex("127.0.0.1:[1-9][0-9]*"));
}

}  // namespace
}  // namespace jtrace::perfdata
