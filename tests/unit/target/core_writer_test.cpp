// What is written as a core is read back by the reader of cores.
#include "target/core_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/core_file.h"
#include "target/core_memory.h"
#include "target/page_set.h"
#include "target/registers.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

constexpr std::uint64_t kPage = 4096;

std::vector<std::byte> filled(std::size_t size, int value) { return std::vector<std::byte>(size, std::byte(value)); }

std::vector<std::byte> written(const CoreProcess& process, const std::vector<CoreRange>& ranges) {
  std::vector<std::byte> bytes;
  const auto size = test::must(write_core(process, ranges, [&](std::string_view piece) -> Result<> {
    const auto* from = reinterpret_cast<const std::byte*>(piece.data());
    bytes.insert(bytes.end(), from, from + piece.size());
    return {};
  }));
  EXPECT_EQ(size, bytes.size());
  return bytes;
}

CoreProcess some_process() {
  CoreProcess process;
  process.pid = 77;
  process.uid = 1000;
  process.program = "a-name-longer-than-the-note-has-room-for";
  process.arguments = "java -jar app.jar";
  process.auxiliary = std::string(32, '\0');
  CoreThread thread;
  thread.registers.tid = 78;
  thread.registers.registers = Registers::at(kNativeIsa, 0x1234, 0);
  thread.user_ns = 1'500'000'000;
  thread.floats = filled(512, 9);
  thread.vectors = filled(832, 8);
  process.threads = {thread, thread};
  process.threads[1].registers.tid = 79;
  process.mappings = {{.start = 0x10000, .end = 0x12000, .offset = 0x3000, .path = "/lib/libjvm.so"},
                      {.start = 0x20000, .end = 0x21000, .path = "[heap]"}};
  process.own_notes = {{2, "collections 5\n"}};
  return process;
}

Result<std::uint8_t> byte_at(const CoreFile& core, Address address) {
  return CoreMemory(core, {}).read<std::uint8_t>(address);
}

TEST(CoreWriter, WritesTheNotesThatTheReaderReads) {
  const auto page = filled(kPage, 1);
  const auto core = test::must(CoreFile::from_bytes(
      written(some_process(), {{.start = 0x10000, .end = 0x11000, .readable = true, .bytes = {page}}})));
  EXPECT_EQ(core.pid(), 77);
  EXPECT_EQ(core.uid(), 1000u);
  EXPECT_EQ(core.program(), "a-name-longer-t");
  EXPECT_EQ(core.arguments(), "java -jar app.jar");
  ASSERT_EQ(core.threads().size(), 2u);
  EXPECT_EQ(core.threads()[1].tid, 79);
  EXPECT_EQ(core.threads()[0].registers.pc(), 0x1234u);
  EXPECT_EQ(core.threads()[0].cpu_ns, 1'500'000'000u);
  ASSERT_EQ(core.files().size(), 1u);
  EXPECT_EQ(core.files()[0].path, "/lib/libjvm.so");
  EXPECT_EQ(core.files()[0].offset, 0x3000u);
  EXPECT_EQ(core.missing_bytes(), 0u);
  ASSERT_NE(core.own_note(2), nullptr);
  EXPECT_EQ(*core.own_note(2), "collections 5\n");
  EXPECT_EQ(core.own_note(1), nullptr);
}

TEST(CoreWriter, KeepsBytesZerosAliasesAndWhatIsMissingApart) {
  const auto first = filled(kPage, 1), second = filled(2 * kPage, 2);
  const std::vector<CoreRange> ranges = {
      {.start = 0x10000, .end = 0x13000, .readable = true, .bytes = {first, second}},
      {.start = 0x13000, .end = 0x20000, .readable = true, .zeros = true},
      {.start = 0x20000, .end = 0x21000, .readable = true},
      {.start = 0x50000, .end = 0x53000, .readable = true, .same_as = 0},
  };
  const auto bytes = written(some_process(), ranges);
  const auto core = test::must(CoreFile::from_bytes(bytes));
  EXPECT_EQ(byte_at(core, 0x10fff).value_or(99), 1);
  EXPECT_EQ(byte_at(core, 0x11000).value_or(99), 2);
  EXPECT_EQ(byte_at(core, 0x13000).value_or(99), 0);
  EXPECT_EQ(byte_at(core, 0x1ffff).value_or(99), 0);
  EXPECT_FALSE(byte_at(core, 0x20000));
  EXPECT_EQ(byte_at(core, 0x50000).value_or(99), 1);
  EXPECT_EQ(byte_at(core, 0x52fff).value_or(99), 2);
  EXPECT_LT(bytes.size(), 32 * kPage) << "memory that is mapped twice is written once";
}

TEST(CoreWriter, GigabytesOfZerosTakeOneBlock) {
  const auto page = filled(kPage, 5);
  const Address far = 0x100000000 + (64ull << 30);
  const auto bytes = written(some_process(), {{.start = 0x100000000, .end = far, .readable = true, .zeros = true},
                                              {.start = far, .end = far + kPage, .readable = true, .bytes = {page}}});
  EXPECT_LT(bytes.size(), 66u << 20);
  const auto core = test::must(CoreFile::from_bytes(bytes));
  EXPECT_LE(core.segments().size(), 1100u);
  EXPECT_EQ(byte_at(core, far - 1).value_or(99), 0);
  EXPECT_EQ(byte_at(core, far).value_or(99), 5);
}

// PN_XNUM: the number of headers does not fit the ELF header.
TEST(CoreWriter, WritesMoreRangesThanTheHeaderCounts) {
  const auto page = filled(kPage, 3);
  std::vector<CoreRange> ranges;
  for (Address at = 0; at < 70'000; ++at)
    ranges.push_back({.start = (at + 16) * 2 * kPage, .end = (at + 16) * 2 * kPage + kPage, .readable = true});
  ranges.back().bytes = {page};
  const auto core = test::must(CoreFile::from_bytes(written(some_process(), ranges)));
  EXPECT_EQ(core.segments().size(), ranges.size());
  EXPECT_EQ(byte_at(core, ranges.back().start).value_or(99), 3);
}

TEST(PageSet, JoinsWhatTouchesAndCutsToARange) {
  PageSet set;
  set.add(0x1000, 0x1001);
  set.add(0x3000, 0x4000);
  set.add(0x1fff, 0x2001);
  EXPECT_EQ(set.bytes(), 3 * kPage);
  EXPECT_EQ(set.within(0, 0x10000), (std::vector<PageRun>{{0x1000, 0x4000}}));
  EXPECT_EQ(set.within(0x1800, 0x2000), (std::vector<PageRun>{{0x1800, 0x2000}}));
  EXPECT_TRUE(set.has(0x3fff));
  EXPECT_FALSE(set.has(0x4000));
}

}  // namespace
}  // namespace jtrace::target
