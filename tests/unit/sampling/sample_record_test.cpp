// Records of samples as the kernel writes them, whole and cut.
#include "sampling/sample_record.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>

#include "target/native_registers.h"

namespace jtrace::sampling {
namespace {

constexpr std::uint64_t kKernelMark = static_cast<std::uint64_t>(-128), kUserMark = static_cast<std::uint64_t>(-512);

std::vector<std::byte> bytes_of(const std::vector<std::uint64_t>& words) {
  std::vector<std::byte> bytes(words.size() * 8);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// event, ip, pid and tid, time, period, chain, registers (abi 2), stack.
std::vector<std::uint64_t> record(std::uint64_t copied) {
  std::vector<std::uint64_t> words = {7, 0x1234, (12ull << 32) | 11, 1000, 10101010};
  words.insert(words.end(), {4, kKernelMark, 0xffffffff81000010, 0xffffffff81000020, kUserMark, 2});
  for (std::uint64_t i = 0; i < target::kPerfOrder.size(); ++i) words.push_back(100 + i);
  words.insert(words.end(), {16, 0xaaaa, 0xbbbb, copied});
  return words;
}

TEST(SampleRecord, HasRegistersKernelChainAndStack) {
  const auto bytes = bytes_of(record(8));
  SampleRecord sample;
  ASSERT_TRUE(read_sample(bytes, sample));
  EXPECT_EQ(sample.event, 7u);
  EXPECT_EQ(sample.pid, 11u);
  EXPECT_EQ(sample.tid, 12u);
  EXPECT_EQ(sample.time, 1000u);
  EXPECT_EQ(sample.period, 10101010u);
  EXPECT_EQ(sample.kernel, (std::vector<std::uint64_t>{0xffffffff81000010, 0xffffffff81000020}));
  EXPECT_TRUE(sample.has_registers);
  const bool aarch64 = target::kNativeIsa == target::Isa::kAarch64;
  EXPECT_EQ(sample.registers.words[target::kPerfOrder.front()], 100u);
  EXPECT_EQ(sample.registers.fp(), aarch64 ? 129u : 106u);
  EXPECT_EQ(sample.registers.sp(), aarch64 ? 131u : 107u);
  EXPECT_EQ(sample.registers.pc(), aarch64 ? 132u : 108u);
  EXPECT_EQ(sample.registers.bytecodes(), aarch64 ? 122u : 114u);
  EXPECT_EQ(sample.stack.size(), 8u) << "what was copied of the 16 bytes that were asked for";
  EXPECT_FALSE(sample.stack_is_full);
  const auto full = bytes_of(record(16));
  ASSERT_TRUE(read_sample(full, sample));
  EXPECT_TRUE(sample.stack_is_full);
}

TEST(SampleRecord, OfAThreadThatIsEndingHasNoRegisters) {
  const auto bytes = bytes_of({7, 0, (12ull << 32) | 11, 1000, 5, 0, 0, 0});
  SampleRecord sample;
  ASSERT_TRUE(read_sample(bytes, sample));
  EXPECT_FALSE(sample.has_registers);
  EXPECT_TRUE(sample.stack.empty());
}

TEST(SwitchRecord, SaysWhoAndWhether) {
  const auto bytes = bytes_of({(12ull << 32) | 11, 1000, 7});
  SwitchRecord record;
  ASSERT_TRUE(read_switch(PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, bytes, record));
  EXPECT_EQ(record.pid, 11u);
  EXPECT_EQ(record.tid, 12u);
  EXPECT_EQ(record.time, 1000u);
  EXPECT_EQ(record.event, 7u);
  EXPECT_TRUE(record.out && record.preempted);
  ASSERT_TRUE(read_switch(0, bytes, record));
  EXPECT_FALSE(record.out || record.preempted);
  EXPECT_FALSE(read_switch(0, std::span(bytes).first(20), record));
}

TEST(NameRecord, HasTheNameOfAThread) {
  // pid 11, tid 12, "worker-1" and zeros; then the sample_id of who gave it: pid, tid, time, event.
  const auto bytes = bytes_of({(12ull << 32) | 11, 0x312d'7265'6b72'6f77, 0, (9ull << 32) | 11, 1000, 7});
  NameRecord record;
  ASSERT_TRUE(read_name(bytes, record));
  EXPECT_EQ(record.pid, 11u);
  EXPECT_EQ(record.tid, 12u);
  EXPECT_EQ(record.name, "worker-1");
  EXPECT_EQ(record.time, 1000u);
  EXPECT_FALSE(read_name(std::span(bytes).first(28), record));
}

TEST(SampleRecord, ThatIsCutIsRefusedAtEachPlace) {
  const auto bytes = bytes_of(record(16));
  SampleRecord sample;
  for (std::size_t size = 0; size < bytes.size(); size += 4)
    EXPECT_FALSE(read_sample(std::span(bytes).first(size), sample)) << size;
  auto huge = record(~0ull);  // more copied than there is
  ASSERT_TRUE(read_sample(bytes_of(huge), sample));
  EXPECT_EQ(sample.stack.size(), 16u);
}

}  // namespace
}  // namespace jtrace::sampling
