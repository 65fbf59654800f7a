#include "perfdata/snapshot.h"

#include <gtest/gtest.h>

#include <cstring>

#include "perfdata/region_writer.h"
#include "target/buffer_memory.h"
#include "tests/testlib/must.h"

namespace jtrace::perfdata {
namespace {

constexpr target::Address kBase = 0x7f0000000000;

TEST(Snapshot, GivesValuesInBothByteOrders) {
  for (std::endian order : {std::endian::little, std::endian::big}) {
    RegionWriter writer(order);
    writer.add_long("n", -5).add_text("s", "hello", Variability::kVariable, 0, 16);
    const auto bytes = writer.bytes();
    auto snapshot = test::must(read_snapshot(target::BufferMemory(kBase, bytes), kBase));
    EXPECT_TRUE(snapshot.stable);
    EXPECT_EQ(snapshot.long_value("n"), -5);
    EXPECT_EQ(snapshot.text_value("s"), "hello");
    EXPECT_EQ(snapshot.long_value("s"), std::nullopt);
    EXPECT_EQ(snapshot.long_value("nowhere"), std::nullopt);
    EXPECT_GT(snapshot.realtime_ns, 0u);
  }
}

TEST(Snapshot, ATextWithoutNulEndsWithItsVector) {
  RegionWriter writer;
  const std::string full(8, 'x');
  writer.add_raw("s", 'B', 8, 0, 5, 3, std::as_bytes(std::span(full)));
  const auto bytes = writer.bytes();
  auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->text_value("s"), full);
}

TEST(RegionReader, KeepsTheLayoutWhileTheStructureStays) {
  auto bytes = RegionWriter().add_long("n", 1).bytes();
  target::BufferMemory memory(0, bytes);
  RegionReader reader(memory, 0);
  Snapshot first, second;
  ASSERT_TRUE(reader.read_once(first));
  const std::int64_t two = 2;
  std::memcpy(bytes.data() + first.layout().counters()[0].value_offset, &two, 8);
  ASSERT_TRUE(reader.read_once(second));
  EXPECT_EQ(first.shared_layout(), second.shared_layout());
  EXPECT_EQ(first.long_value("n"), 1);
  EXPECT_EQ(second.long_value("n"), 2);
}

TEST(RegionReader, SeesCountersThatComeLater) {
  auto bytes = RegionWriter().add_long("a", 1).bytes();
  target::BufferMemory memory(0, bytes);
  RegionReader reader(memory, 0);
  Snapshot snapshot;
  ASSERT_TRUE(reader.read_stable(snapshot));
  EXPECT_EQ(snapshot.long_value("b"), std::nullopt);
  const auto grown = RegionWriter().add_long("a", 1).add_long("b", 7).bytes();
  std::copy(grown.begin(), grown.end(), bytes.begin());
  ASSERT_TRUE(reader.read_stable(snapshot));
  EXPECT_EQ(snapshot.long_value("b"), 7);
}

// Memory in which the value changes at every read, `changes` times.
class RestlessMemory final : public target::MemoryReader {
 public:
  RestlessMemory(std::vector<std::byte> bytes, std::size_t at, int changes)
      : bytes_(std::move(bytes)), at_(at), changes_(changes) {}
  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override {
    if (address == 0 && changes_-- > 0) bytes_[at_] = static_cast<std::byte>(std::to_integer<int>(bytes_[at_]) + 1);
    return target::BufferMemory(0, bytes_).read_some(address, out);
  }

 private:
  mutable std::vector<std::byte> bytes_;
  std::size_t at_;
  mutable int changes_;
};

TEST(RegionReader, CopiesUntilTwoCopiesAreEqual) {
  auto bytes = RegionWriter().add_long("n", 0).bytes();
  const std::size_t at = Layout::parse(bytes)->counters()[0].value_offset;
  RestlessMemory memory(bytes, at, 3);
  RegionReader reader(memory, 0);
  Snapshot snapshot;
  ASSERT_TRUE(reader.read_stable(snapshot));
  EXPECT_TRUE(snapshot.stable);
  EXPECT_EQ(snapshot.long_value("n"), 3);
}

TEST(RegionReader, ReportsThatItNeverSettles) {
  auto bytes = RegionWriter().add_long("n", 0).bytes();
  RestlessMemory memory(bytes, Layout::parse(bytes)->counters()[0].value_offset, 1000);
  RegionReader reader(memory, 0);
  Snapshot snapshot;
  ASSERT_TRUE(reader.read_stable(snapshot, 3));
  EXPECT_FALSE(snapshot.stable);
}

TEST(RegionReader, ReadsARegionLargerThanTheDefault) {
  RegionWriter writer;
  for (int i = 0; i < 2000; ++i) writer.add_long("counter." + std::to_string(i), i);
  const auto bytes = writer.bytes();
  ASSERT_GT(bytes.size(), 65536u);
  auto snapshot = test::must(read_snapshot(target::BufferMemory(kBase, bytes), kBase));
  EXPECT_EQ(snapshot.long_value("counter.1999"), 1999);
}

}  // namespace
}  // namespace jtrace::perfdata
