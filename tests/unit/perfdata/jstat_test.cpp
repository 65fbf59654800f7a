#include "perfdata/jstat.h"

#include <gtest/gtest.h>

#include "perfdata/region_writer.h"
#include "target/buffer_memory.h"

namespace jtrace::perfdata {
namespace {

Snapshot snapshot_of(const RegionWriter& writer) {
  const auto bytes = writer.bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  EXPECT_TRUE(snapshot);
  return std::move(*snapshot);
}

std::string header(std::string_view option) { return JstatView::of(option, false)->header(); }
std::string row(std::string_view option, const RegionWriter& writer) {
  return JstatView::of(option, false)->row(snapshot_of(writer), 0);
}

// JDK 25's jstat printed the lines below for the same counters.
TEST(Jstat, HeadingsOfJdk25) {
  EXPECT_EQ(header("gcutil"),
            "  S0     S1     E      O      M     CCS    YGC     YGCT     FGC    FGCT     CGC    CGCT       GCT   ");
  EXPECT_EQ(header("printcompilation"), "Compiled  Size  Type Method");
  EXPECT_EQ(header("class"), "Loaded  Bytes  Unloaded  Bytes     Time   ");
}

TEST(Jstat, PercentTimesAndWhatIsMissing) {
  RegionWriter writer;
  writer.add_long("sun.os.hrt.frequency", 1'000'000'000, Units::kHertz, Variability::kConstant)
      .add_long("sun.gc.generation.0.space.0.capacity", 4 << 20, Units::kBytes)
      .add_long("sun.gc.generation.0.space.0.used", 1 << 20, Units::kBytes)
      .add_long("sun.gc.generation.0.space.1.capacity", 0, Units::kBytes)
      .add_long("sun.gc.generation.0.space.1.used", 0, Units::kBytes)
      .add_long("sun.gc.collector.0.invocations", 12, Units::kEvents)
      .add_long("sun.gc.collector.0.time", 1'234'567'890, Units::kTicks);
  EXPECT_EQ(row("gcutil", writer),
            "     -      -  25.00      -      -      -     12     1.235     -         -     -         -     1.235");
}

TEST(Jstat, TextIsLeftAlignedAndPadded) {
  RegionWriter writer;
  writer.add_text("sun.gc.lastCause", "Allocation Failure", Variability::kVariable, 0, 81)
      .add_text("sun.gc.cause", "No GC", Variability::kVariable, 0, 81);
  EXPECT_TRUE(row("gccause", writer).ends_with("Allocation Failure   No GC               "));
}

TEST(Jstat, TheAgeIsByTheReadersClock) {
  RegionWriter writer;
  writer.add_long("sun.rt.createVmBeginTime", 1'000'000);
  auto view = JstatView::of("printcompilation", true);
  EXPECT_EQ(view->header().substr(0, 16), "Timestamp       ");
  EXPECT_EQ(view->row(snapshot_of(writer), 1'012'340).substr(0, 15), "           12.3");
}

TEST(Jstat, TwelveOptionsAndNoOther) {
  EXPECT_EQ(jstat_options().size(), 12u);
  EXPECT_FALSE(JstatView::of("gcutils", false));
}

}  // namespace
}  // namespace jtrace::perfdata
