// Circles of waiting threads, the names of the VM's locks, and mutexes of glibc in a made-up memory.
#include "coreinspect/tools/mutex_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "coreinspect/runtime/vm_mutexes.h"
#include "coreinspect/tools/futex_waits.h"
#include "target/buffer_memory.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CirclesOfWaits, AreFoundOnceEach) {
  EXPECT_THAT(circles_of({}), IsEmpty());
  EXPECT_THAT(circles_of({{1, 2}, {2, 3}, {3, 4}}), IsEmpty());
  EXPECT_THAT(circles_of({{1, 2}, {2, 1}}), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(circles_of({{1, 3}, {2, 3}, {3, 4}, {4, 3}, {5, 1}}), ElementsAre(ElementsAre(3, 4)));
  EXPECT_THAT(circles_of({{7, 7}}), ElementsAre(ElementsAre(7)));
  EXPECT_THAT(circles_of({{1, 2}, {2, 1}, {3, 4}, {4, 3}}), SizeIs(2));
}

TEST(NamesOfVmLocks, EndInOneOfThreeWays) {
  for (const char* name : {"Threads_lock", "ProfileVMLock", "SATB_Q_CBL_mon", "C1_lock"})
    EXPECT_TRUE(is_vm_mutex_name(name)) << name;
  for (const char* name : {"", "lock", "_lock", "Heap lock", "block", "Threads_lock2", "\x01_x_lock"})
    EXPECT_FALSE(is_vm_mutex_name(name)) << name;
}

class NativeMutexes : public ::testing::Test {
 protected:
  // Word, count, owner, users, kind.
  std::array<std::uint32_t, 5> words_{2, 1, 77, 1, 0};
  std::optional<NativeMutex> found(std::uint32_t operation = 0x80, std::uint32_t value = 2) const {
    const target::BufferMemory memory(0x1000, std::as_bytes(std::span(words_)));
    return native_mutex_of(memory, {0x1000, operation, value}, {70, 77});
  }
};

TEST_F(NativeMutexes, HaveTheirOwner) { EXPECT_EQ(found(), (NativeMutex{0x1000, 77})); }

TEST_F(NativeMutexes, AreNoOtherFutexes) {
  EXPECT_FALSE(found(0x189));  // a condition
  EXPECT_FALSE(found(0x80, 0));
  words_[0] = 0;  // unlocked meanwhile
  EXPECT_FALSE(found());
  words_ = {2, 1, 78, 1, 0};  // no thread of the process
  EXPECT_FALSE(found());
  words_ = {2, 1, 77, 1, 9};  // no kind
  EXPECT_FALSE(found());
}

}  // namespace
}  // namespace jtrace::coreinspect
