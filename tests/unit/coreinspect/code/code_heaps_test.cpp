// Code heaps that grow while they are read: the end is read again if an address is beyond the cached one.
#include "coreinspect/code/code_heaps.h"

#include <gtest/gtest.h>

#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/types/vmstructs_image.h"

namespace jtrace::coreinspect {
namespace {

constexpr Address kHeap = 0x20000;     // the CodeHeap
constexpr Address kCode = 0x40000000;  // its contents
constexpr Address kPage = 4096;

// A process whose memory changes.
class Changing final : public target::MemoryReader {
 public:
  Result<std::size_t> read_some(Address address, std::span<std::byte> out) const override {
    ++reads;
    if (address < kHeap || address >= kHeap + words.size() * 8) return fail(ErrorCategory::kNotFound, "nothing there");
    const std::size_t count = std::min<std::size_t>(out.size(), kHeap + words.size() * 8 - address);
    std::memcpy(out.data(), reinterpret_cast<const std::byte*>(words.data()) + (address - kHeap), count);
    return count;
  }
  std::vector<Address> words = std::vector<Address>(512);
  mutable int reads = 0;
};

class CodeHeapsOfAProcess : public ::testing::Test {
 protected:
  // _memory at 8, _segmap at 120, _log2_segment_size at 256; VirtualSpace: _low_boundary, _high_boundary, _low, _high.
  void SetUp() override {
    test::VmStructsImage image;
    image.field("CodeHeap", "_memory", "VirtualSpace", false, 8);
    image.field("CodeHeap", "_segmap", "VirtualSpace", false, 120);
    image.field("CodeHeap", "_log2_segment_size", "int", false, 256);
    image.field("VirtualSpace", "_low", "char*", false, 16);
    image.field("VirtualSpace", "_high", "char*", false, 24);
    image.field("VirtualSpace", "_high_boundary", "char*", false, 8);
    auto types = test::must(image.read());
    types_ = std::make_unique<TypeDatabase>(std::move(types));
    memory_.words[(8 + 8) / 8] = kCode + 100 * kPage;
    memory_.words[(8 + 16) / 8] = kCode;
    memory_.words[(8 + 24) / 8] = kCode + 2 * kPage;
    memory_.words[(120 + 16) / 8] = 0x50000000;
    memory_.words[256 / 8] = 7;
  }
  void grow_to(Address pages) { memory_.words[(8 + 24) / 8] = kCode + pages * kPage; }

  Changing memory_;
  CachedMemory cache_{memory_};
  std::unique_ptr<TypeDatabase> types_;
};

TEST_F(CodeHeapsOfAProcess, Grow) {
  CodeHeaps heaps(cache_, &cache_);
  ASSERT_TRUE(heaps.add(*types_, kHeap));
  EXPECT_TRUE(heaps.contains(kCode));
  EXPECT_TRUE(heaps.contains(kCode + 2 * kPage - 1));
  EXPECT_FALSE(heaps.contains(kCode + 2 * kPage));
  EXPECT_FALSE(heaps.contains(kCode - 1));

  grow_to(5);
  EXPECT_EQ(cache_.read<Address>(kHeap + 32), kCode + 2 * kPage) << "the cache has the old one";
  EXPECT_TRUE(heaps.contains(kCode + 5 * kPage - 1));
  EXPECT_FALSE(heaps.contains(kCode + 5 * kPage));
  EXPECT_EQ(cache_.read<Address>(kHeap + 32), kCode + 5 * kPage) << "nor has it the old segment map";
  EXPECT_EQ(heaps.find(kCode + 4 * kPage)->segments, 0x50000000u);

  grow_to(6);
  ASSERT_EQ(heaps.all().size(), 1u);
  EXPECT_EQ(heaps.all().front().high, kCode + 6 * kPage);
}

TEST_F(CodeHeapsOfAProcess, AreAskedAgainOnlyBetweenTheirTwoEnds) {
  CodeHeaps heaps(cache_, &cache_);
  ASSERT_TRUE(heaps.add(*types_, kHeap));
  const int before = memory_.reads;
  for (const Address pc : {kCode + kPage, kCode + 100 * kPage, kCode - kPage, Address{0x1234}})
    (void)heaps.contains(pc);
  EXPECT_EQ(memory_.reads, before);
  EXPECT_FALSE(heaps.contains(kCode + 3 * kPage));
  EXPECT_EQ(memory_.reads, before + 1);
}

TEST_F(CodeHeapsOfAProcess, DoNotGrowBeyondWhatIsReserved) {
  CodeHeaps heaps(cache_, &cache_);
  ASSERT_TRUE(heaps.add(*types_, kHeap));
  grow_to(101);
  EXPECT_FALSE(heaps.contains(kCode + 50 * kPage));
  grow_to(1);
  EXPECT_FALSE(heaps.contains(kCode + 50 * kPage));
  EXPECT_TRUE(heaps.contains(kCode + kPage)) << "it never shrinks";
}

TEST_F(CodeHeapsOfAProcess, ThatAreImpossibleAreRefused) {
  memory_.words[(8 + 8) / 8] = kCode + kPage;
  CodeHeaps heaps(cache_, &cache_);
  const auto added = heaps.add(*types_, kHeap);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().category, ErrorCategory::kMalformed);
}

// A core has all that there is.
TEST_F(CodeHeapsOfAProcess, OfACoreAreAsTheyWere) {
  CodeHeaps heaps(memory_, nullptr);
  ASSERT_TRUE(heaps.add(*types_, kHeap));
  grow_to(5);
  EXPECT_FALSE(heaps.contains(kCode + 3 * kPage));
}

}  // namespace
}  // namespace jtrace::coreinspect
