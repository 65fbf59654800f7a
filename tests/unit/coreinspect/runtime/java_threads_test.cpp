#include "coreinspect/runtime/java_threads.h"

#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kInObjectWait = 0x191, kBlockedOnEnter = 0x401, kRunnable = 0x5;  // javaThreadStatus.hpp

TEST(JavaThread, EntersTheMonitorThatIsPending) {
  EXPECT_EQ((JavaThread{.status = kBlockedOnEnter, .pending_monitor = 0x10}.entering_monitor()), 0x10u);
  // The status follows.
  EXPECT_EQ((JavaThread{.status = kRunnable, .pending_monitor = 0x10}.entering_monitor()), 0x10u);
  EXPECT_EQ((JavaThread{.status = kRunnable}.entering_monitor()), 0u);
}

TEST(JavaThread, EntersTheMonitorAgainThatItWasNotifiedOf) {
  EXPECT_EQ((JavaThread{.status = kInObjectWait, .waiting_monitor = 0x10}.entering_monitor()), 0u);
  EXPECT_EQ((JavaThread{.status = kBlockedOnEnter, .waiting_monitor = 0x10}.entering_monitor()), 0x10u);
}

}  // namespace
}  // namespace jtrace::coreinspect
