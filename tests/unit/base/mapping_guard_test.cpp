#include "base/mapping_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "base/unique_fd.h"

namespace jtrace {
namespace {

constexpr std::size_t kSize = 3 * 4096;

// A mapping of a file without a name, which can be truncated.
class Mapped {
 public:
  Mapped() : fd_(::memfd_create("guarded", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(fd_.get(), kSize), 0);
    memory_ = static_cast<std::byte*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0));
    memory_[0] = memory_[kSize - 1] = std::byte{7};
  }
  ~Mapped() { ::munmap(memory_, kSize); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  void cut(off_t size) const { EXPECT_EQ(::ftruncate(fd_.get(), size), 0); }
  std::byte at(std::size_t offset) const { return static_cast<const volatile std::byte*>(memory_)[offset]; }
  void put(std::size_t offset) { static_cast<volatile std::byte*>(memory_)[offset] = std::byte{1}; }
  std::span<const std::byte> bytes() const { return {memory_, kSize}; }

 private:
  UniqueFd fd_;
  std::byte* memory_ = nullptr;
};

TEST(MappingGuard, WhatIsGoneReadsAsZerosAndIsReported) {
  Mapped mapped;
  const MappingGuard guard(mapped.bytes());
  mapped.cut(4096);
  EXPECT_EQ(mapped.at(0), std::byte{7});
  EXPECT_FALSE(guard.was_cut());
  EXPECT_EQ(mapped.at(kSize - 1), std::byte{0});
  EXPECT_TRUE(guard.was_cut());
  mapped.put(kSize - 1);  // and is writable
  EXPECT_EQ(mapped.at(kSize - 1), std::byte{1});
}

TEST(MappingGuard, EachMappingHasItsOwnAnswer) {
  Mapped whole, cut;
  const MappingGuard first(whole.bytes());
  MappingGuard second(cut.bytes());
  cut.cut(0);
  EXPECT_EQ(cut.at(0), std::byte{0});
  const MappingGuard moved = std::move(second);
  EXPECT_TRUE(moved.was_cut());
  EXPECT_FALSE(first.was_cut());
  EXPECT_FALSE(second.was_cut());
}

TEST(MappingGuard, PlacesAreUsedAgain) {
  for (int round = 0; round < 3; ++round) {
    std::vector<MappingGuard> guards;
    std::vector<std::unique_ptr<Mapped>> many;
    for (int i = 0; i < 100; ++i) {
      many.push_back(std::make_unique<Mapped>());
      guards.emplace_back(many.back()->bytes());
    }
    many[57]->cut(0);
    (void)many[57]->at(5);
    for (std::size_t i = 0; i < guards.size(); ++i) EXPECT_EQ(guards[i].was_cut(), i == 57) << round;
  }
}

TEST(MappingGuardDeathTest, WithoutAGuardTheSignalIsDeadlyAsEver) {
  EXPECT_EXIT(
      {
        Mapped mapped;
        { const MappingGuard gone(mapped.bytes()); }
        mapped.cut(0);
        (void)mapped.at(0);
      },
      [](int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }, "");
}

}  // namespace
}  // namespace jtrace
