// Which bytes of a copied process stay: of this one, of which a page is known.
#include "coreinspect/tools/kept_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "target/read_log.h"
#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/tools/copied_child.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kSize = 3 * 4096;

class KeptOfACopy : public test::CopiedChild {
 protected:
  void SetUp() override {
    page_ = static_cast<std::byte*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(page_, MAP_FAILED);
    for (std::size_t i = 0; i < kSize; ++i) page_[i] = static_cast<std::byte>(i % 255 + 1);
    CopiedChild::SetUp();
  }
  void TearDown() override {
    CopiedChild::TearDown();
    ::munmap(page_, kSize);
  }
  Address at(std::size_t offset) const { return reinterpret_cast<Address>(page_) + offset; }
  // The byte of the page in the copy; nothing where the copy has none.
  std::optional<std::byte> copied(std::size_t offset) const {
    for (const target::CoreRange& range : copy_->ranges()) {
      Address start = range.start;
      for (const auto& bytes : range.bytes) {
        if (at(offset) >= start && at(offset) < start + bytes.size()) return bytes[at(offset) - start];
        start += bytes.size();
      }
    }
    return std::nullopt;
  }
  std::byte* page_ = nullptr;
};

TEST_F(KeptOfACopy, IsToTheByte) {
  KeptBytes kept(*copy_);
  kept.keep(at(100), 200);
  kept.drop(at(150), 3);
  kept.keep(at(4095), 2);  // over the end of a page
  kept.apply();
  for (std::size_t i = 0; i < kSize; ++i) {
    const bool stays = (i >= 100 && i < 300 && !(i >= 150 && i < 153)) || i == 4095 || i == 4096;
    ASSERT_EQ(copied(i), stays ? page_[i] : std::byte{0}) << i;
  }
}

TEST_F(KeptOfACopy, IsByWordsOfThatPlease) {
  KeptBytes kept(*copy_);
  kept.keep(at(0), kSize);
  std::size_t words = 0;
  kept.filter(at(3), 32, [&](std::uint64_t) { return static_cast<unsigned>(++words); });  // low half, high half, both
  kept.apply();
  EXPECT_EQ(words, 3u);  // of 8 to 32; the parts of words at the ends never stay
  for (std::size_t i = 0; i < 48; ++i) {
    const bool stays = i < 3 || (i >= 8 && i < 12) || (i >= 20 && i < 32) || i >= 35;
    ASSERT_EQ(copied(i), stays ? page_[i] : std::byte{0}) << i;
  }
}

TEST(ReadLog, MergesReadsAndLeavesRangesOut) {
  target::ReadLog log;
  log.add(100, 10);
  log.add(200, 5);
  log.add(110, 4);
  log.add(98, 3);
  log.leave_out({{300, 400}, {500, 600}});
  log.add(399, 8);
  log.add(400, 8);
  std::vector<std::pair<Address, Address>> found;
  for (const target::ReadBytes& each : log.all()) found.emplace_back(each.start, each.end);
  EXPECT_THAT(found, ::testing::ElementsAre(std::pair(98u, 114u), std::pair(200u, 205u), std::pair(400u, 408u)));
}

}  // namespace
}  // namespace jtrace::coreinspect
