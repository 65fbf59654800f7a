#include "perfdata/trace_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "perfdata/region_writer.h"
#include "perfdata/restorer.h"
#include "perfdata/value_format.h"
#include "target/buffer_memory.h"
#include "tests/testlib/must.h"

namespace jtrace::perfdata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Snapshot snapshot_of(const std::vector<std::byte>& bytes) {
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot) << snapshot.error().message();
  return std::move(*snapshot);
}

// Everything that a region can contain: both kinds, an odd type, text that XML cannot represent.
RegionWriter rich_region(std::endian order) {
  RegionWriter writer(order);
  const std::byte odd[3] = {std::byte{1}, std::byte{0}, std::byte{0xff}};
  writer.add_long("sun.os.hrt.frequency", 1'000'000'000, Units::kHertz, Variability::kConstant)
      .add_long("sun.ci.threads", 3, Units::kBytes, Variability::kConstant)
      .add_long("negative", INT64_MIN, Units::kTicks, Variability::kMonotonic, kFlagSupported)
      .add_text("plain", "a <b> & \"c\"\n", Variability::kConstant, kFlagSupported, 40)
      .add_text("escaped", "back\\slash \x01 and \xff", Variability::kVariable, 0, 81)
      .add_text("empty", "", Variability::kVariable, 0, 8)
      .add_raw("odd", 'S', 3, 2, 9, 7, odd)
      .set_overflow(17)
      .set_modification(123456789);
  return writer;
}

void expect_equal_entries(const Snapshot& a, const Snapshot& b) {
  ASSERT_EQ(a.layout().counters().size(), b.layout().counters().size());
  for (std::size_t i = 0; i < a.layout().counters().size(); ++i) {
    const Counter &x = a.layout().counters()[i], &y = b.layout().counters()[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type) << x.name;
    EXPECT_EQ(x.flags, y.flags) << x.name;
    EXPECT_EQ(x.units, y.units) << x.name;
    EXPECT_EQ(x.variability, y.variability) << x.name;
    EXPECT_EQ(x.vector_length, y.vector_length) << x.name;
    EXPECT_EQ(a.long_value(x), b.long_value(y)) << x.name;
    EXPECT_EQ(a.text_value(x), b.text_value(y)) << x.name;
    if (x.kind != ValueKind::kRaw) continue;
    const auto p = a.raw_value(x), q = b.raw_value(y);
    EXPECT_TRUE(p.size() <= q.size() && std::memcmp(p.data(), q.data(), p.size()) == 0) << x.name;
  }
}

// The head of a document, by which the restorer finds the JVM.
void write_head(trace::EventSink& sink) {
  EXPECT_TRUE(sink.write(trace::ProcessCreate{.processId = "P", .pid = 42, .nodeIdRef = "N", .time = trace::Time(1)}));
  EXPECT_TRUE(sink.write(
      trace::AgentCreate{.agentId = "A", .processIdRef = "P", .agentName = "hsperf", .time = trace::Time(1)}));
}

TEST(TraceSeries, ASnapshotComesBackEntryByEntry) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const Snapshot snapshot = snapshot_of(rich_region(order).bytes());
    Restorer restorer({});
    write_head(restorer);
    SampleWriter writer(restorer, {.agent_id = "A", .source = "test"});
    ASSERT_TRUE(writer.write(snapshot));
    auto region = test::must(restorer.region());
    const Snapshot back = snapshot_of(region);
    expect_equal_entries(snapshot, back);
    EXPECT_EQ(back.prologue().byte_order, order);
    EXPECT_EQ(back.prologue().overflow, 17u);
    EXPECT_EQ(back.prologue().modification_ns, 123456789);
    EXPECT_EQ(region.size(), snapshot.capacity);
  }
}

TEST(TraceSeries, LaterSamplesHaveOnlyWhatChanged) {
  RegionWriter region;
  region.add_long("a", 1).add_long("b", 2).add_text("t", "one", Variability::kVariable, 0, 8);
  const Snapshot first = snapshot_of(region.bytes());
  RegionWriter later;
  later.add_long("a", 1).add_long("b", 3).add_text("t", "two", Variability::kVariable, 0, 8).add_long("new", 9);
  const Snapshot second = snapshot_of(later.bytes());
  trace::CaptureSink sink;
  SampleWriter writer(sink, {.agent_id = "A", .source = "test"});
  ASSERT_TRUE(writer.write(first));
  const std::size_t before = sink.all<trace::Value>().size();
  ASSERT_TRUE(writer.write(second));
  ASSERT_TRUE(writer.write(second));
  const auto values = sink.all<trace::Value>();
  EXPECT_EQ(before, 3u);
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[3].name.view(), "b");
  EXPECT_FALSE(values[3].serializationFormat.present());
  EXPECT_EQ(values[4].value.view(), "two");
  EXPECT_EQ(values[5].name.view(), "new");
  EXPECT_TRUE(values[5].serializationFormat.present());
  EXPECT_EQ(sink.all<trace::TraceStart>().size(), 3u);
}

// Has room for so many values.
class SmallSink final : public trace::EventSink {
 public:
  explicit SmallSink(std::size_t values) : left_(values) {}
  Result<> write(const trace::Event& event) override {
    if (std::holds_alternative<trace::Value>(event) && left_-- == 0) return fail(ErrorCategory::kPartial, "full");
    return taken.write(event);
  }
  trace::CaptureSink taken;

 private:
  std::size_t left_;
};

TEST(TraceSeries, ASampleThatFoundNoRoomIsEndedAndNotStable) {
  SmallSink sink(1);
  SampleWriter writer(sink, {.agent_id = "A", .source = "test"});
  EXPECT_FALSE(writer.write(snapshot_of(RegionWriter().add_long("a", 1).add_long("b", 2).bytes())));
  EXPECT_TRUE(writer.end(5));
  EXPECT_EQ(sink.taken.all<trace::TraceEnd>().size(), 1u);
  EXPECT_EQ(sink.taken.all<trace::Option>().back().key.view(), "hsperf.stable");
  Restorer restorer({});
  write_head(restorer);
  for (const auto& start : sink.taken.all<trace::TraceStart>()) ASSERT_TRUE(restorer.write(start));
  for (const auto& option : sink.taken.all<trace::Option>()) ASSERT_TRUE(restorer.write(option));
  for (const auto& value : sink.taken.all<trace::Value>()) ASSERT_TRUE(restorer.write(value));
  EXPECT_EQ(restorer.missing(), 1u);
}

TEST(TraceSeries, ALaterSampleThatFoundNoRoomIsNotStableWhenItComesBack) {
  Restorer restorer({});
  write_head(restorer);
  SmallSink sink(3);
  SampleWriter writer(sink, {.agent_id = "A", .source = "test"});
  ASSERT_TRUE(writer.write(snapshot_of(RegionWriter().add_long("a", 1).add_long("b", 2).bytes())));
  EXPECT_FALSE(writer.write(snapshot_of(RegionWriter().add_long("a", 3).add_long("b", 4).bytes())));
  ASSERT_TRUE(writer.end(5));
  for (const trace::Event& event : sink.taken.events()) ASSERT_TRUE(restorer.write(event));
  EXPECT_FALSE(restorer.is_stable());
  EXPECT_EQ(restorer.missing(), 0u);
  EXPECT_EQ(restorer.samples(), 2u);
}

TEST(TraceSeries, AnySampleOfASeriesCanBeHadAgain) {
  for (const bool full : {false, true})
    for (std::uint64_t wanted = 0; wanted <= 3; ++wanted) {
      Restorer restorer({.sample = wanted});
      write_head(restorer);
      SampleWriter writer(restorer, {.agent_id = "A", .source = "test", .full = full});
      for (int i = 1; i <= 3; ++i)
        ASSERT_TRUE(writer.write(snapshot_of(RegionWriter().add_long("a", 10 * i).add_long("b", 1).bytes())));
      auto region = test::must(restorer.region());
      EXPECT_EQ(snapshot_of(region).long_value("a"), wanted == 0 ? 30 : static_cast<std::int64_t>(wanted) * 10);
      EXPECT_EQ(snapshot_of(region).long_value("b"), 1);
    }
}

TEST(TraceSeries, SecretsAreTakenOutAndThatIsReported) {
  const Snapshot snapshot = snapshot_of(RegionWriter().add_text("java.rt.vmArgs", "-Dpassword=x -Xmx1g").bytes());
  Restorer masked({});
  write_head(masked);
  ASSERT_TRUE(SampleWriter(masked, {.agent_id = "A", .source = "test"}).write(snapshot));
  EXPECT_EQ(masked.masked(), 1u);
  EXPECT_EQ(snapshot_of(*masked.region()).text_value("java.rt.vmArgs"), "-Dpassword=*** -Xmx");
  Restorer shown({});
  write_head(shown);
  ASSERT_TRUE(SampleWriter(shown, {.agent_id = "A", .source = "test", .show_secrets = true}).write(snapshot));
  EXPECT_EQ(shown.masked(), 0u);
}

TEST(TraceSeries, OverlappingPausesAreOne) {
  trace::CaptureSink sink;
  PauseWriter writer(sink, "A");
  ASSERT_TRUE(writer.begin(1));
  const Snapshot snapshot = snapshot_of(RegionWriter()
                                            .add_long("sun.gc.generation.0.space.0.used", 5, Units::kBytes)
                                            .add_long("sun.gc.generation.0.space.0.capacity", 8, Units::kBytes)
                                            .add_long("sun.gc.generation.0.capacity", 100, Units::kBytes)
                                            .bytes());
  const ClockAnchor anchor{.monotonic = 1000, .realtime = 5000};
  const std::vector<GcPause> pauses = {{.entry = 10, .exit = 50}, {.entry = 20, .exit = 40}, {.entry = 60, .exit = 70}};
  ASSERT_TRUE(writer.write(pauses, 4, snapshot, TickClock(1000, 1e9), anchor));
  const auto starts = sink.all<trace::GcStart>();
  const auto ends = sink.all<trace::GcFinish>();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].time.ns(), 5010u);
  EXPECT_EQ(ends[0].time.ns(), 5050u);
  EXPECT_EQ(ends[0].usedObjectSpace.value(), 5u);
  EXPECT_EQ(ends[0].totalObjectSpace.value(), 8u);
  EXPECT_EQ(starts[1].time.ns(), 5060u);
}

TEST(Restorer, ReportsWhatItDoesNotFind) {
  Restorer empty({});
  EXPECT_THAT(empty.region().error().message(), HasSubstr("no counters of hsperf"));
  Restorer two({});
  write_head(two);
  EXPECT_TRUE(two.write(
      trace::AgentCreate{.agentId = "B", .processIdRef = "P", .agentName = "hsperf", .time = trace::Time(1)}));
  const Snapshot snapshot = snapshot_of(RegionWriter().add_long("a", 1).bytes());
  for (const char* agent : {"A", "B"})
    ASSERT_TRUE(SampleWriter(two, {.agent_id = agent, .source = "test"}).write(snapshot));
  EXPECT_THAT(two.region().error().message(), HasSubstr("several JVMs: 42, 42"));
  Restorer late({.sample = 9});
  write_head(late);
  ASSERT_TRUE(SampleWriter(late, {.agent_id = "A", .source = "test"}).write(snapshot));
  EXPECT_THAT(late.region().error().message(), HasSubstr("no sample 9: the trace has 1"));
}

TEST(Restorer, UnreadableValuesAreMalformed) {
  Restorer restorer({});
  write_head(restorer);
  ASSERT_TRUE(restorer.write(trace::TraceStart{.traceId = "T", .agentIdRef = "A", .time = trace::Time(1)}));
  const trace::Value no_format{.name = "a", .type = "J", .value = "1"};
  EXPECT_EQ(exit_status(restorer.write(no_format).error()), ExitStatus::kMalformed);
  const trace::Value bad_format{.name = "a", .serializationFormat = "java", .type = "J", .value = "1"};
  EXPECT_EQ(exit_status(restorer.write(bad_format).error()), ExitStatus::kMalformed);
  const trace::Value bad_text{.name = "a",
                              .serializationFormat = "hsperf/2.0 unit=String variability=Constant length=4 enc=escaped",
                              .value = "\\xg0"};
  EXPECT_EQ(exit_status(restorer.write(bad_text).error()), ExitStatus::kMalformed);
}

TEST(ValueFormat, HasTheTrueUnitAndTheDeclaredOne) {
  std::string text;
  append_value_format(text, {.units = 2, .variability = 1, .flags = 1}, Quantity::kNone);
  EXPECT_EQ(text, "hsperf/2.0 unit=None declared=Bytes variability=Constant flags=1 length=0");
  const auto format = parse_value_format(text);
  ASSERT_TRUE(format);
  EXPECT_EQ(format->units, 2);
  EXPECT_EQ(format->flags, 1);
  EXPECT_FALSE(parse_value_format("hsperf/3.0 unit=None variability=Constant"));
  EXPECT_FALSE(parse_value_format(""));
}

}  // namespace
}  // namespace jtrace::perfdata
