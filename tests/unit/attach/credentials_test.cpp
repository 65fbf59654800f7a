#include "attach/credentials.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace jtrace::attach {
namespace {

constexpr uid_t kNobody = 65534;

TEST(ScopedCredentials, NothingToDoForOnesOwn) {
  const auto scope = ScopedCredentials::become(::geteuid(), ::getegid());
  ASSERT_TRUE(scope);
  EXPECT_FALSE(scope->switched());
}

TEST(ScopedCredentials, OneThreadForAMoment) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: another user's ids cannot be taken";
  std::atomic<bool> switched{false};
  std::atomic<bool> looked{false};
  std::thread other([&] {
    {
      const auto scope = ScopedCredentials::become(kNobody, kNobody);
      ASSERT_TRUE(scope);
      EXPECT_TRUE(scope->switched());
      EXPECT_EQ(::geteuid(), kNobody);
      EXPECT_EQ(::getegid(), kNobody);
      switched = true;
      while (!looked) std::this_thread::yield();
    }
    EXPECT_EQ(::geteuid(), 0u);
    EXPECT_EQ(::getegid(), 0u);
  });
  while (!switched) std::this_thread::yield();
  EXPECT_EQ(::geteuid(), 0u);
  looked = true;
  other.join();
}

TEST(ScopedCredentials, RefusedWithoutPrivilege) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: it gives the privilege up first";
  const auto scope = ScopedCredentials::become(kNobody, kNobody);
  ASSERT_TRUE(scope);
  const auto other = ScopedCredentials::become(12345, 12345);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().category, ErrorCategory::kPermission);
  EXPECT_EQ(::geteuid(), kNobody);
  EXPECT_EQ(::getegid(), kNobody);
}

}  // namespace
}  // namespace jtrace::attach
