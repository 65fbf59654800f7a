// The reason why a thread is late, of what the kernel tells at two looks.
#include "coreinspect/tools/late_threads.h"

#include <gtest/gtest.h>

#include <string>

#include "target/isa.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kInJava = 8, kInVm = 6, kFromNative = 5;

TEST(WhyLate, ALoopUsesTheProcessor) {
  EXPECT_EQ(why_late(kInJava, {.state = 'R', .cpu_ns = 100}, {.state = 'R', .cpu_ns = 200, .syscall = "running"}),
            "runs Java code and does not come to a safepoint poll");
  EXPECT_EQ(why_late(kInVm, {.state = 'R', .cpu_ns = 100}, {.state = 'R', .cpu_ns = 200}),
            "runs in the VM and has not come back to a point where it stops");
  EXPECT_EQ(why_late(kFromNative, {.state = 'R', .cpu_ns = 100}, {.state = 'R', .cpu_ns = 200}),
            "is changing between Java, native code and the VM");
}

TEST(WhyLate, AReadyThreadMayHaveNoProcessor) {
  EXPECT_EQ(why_late(kInJava, {.state = 'R', .cpu_ns = 100}, {.state = 'R', .cpu_ns = 100}),
            "runs Java code and does not come to a safepoint poll; it is ready, but gets no processor");
}

TEST(WhyLate, NothingIsSaidOfAProcessorThatIsNotMeasured) {
  EXPECT_EQ(why_late(kInJava, {.state = 'R'}, {.state = 'R'}), "runs Java code and does not come to a safepoint poll");
}

TEST(WhyLate, AFaultOfAnInstructionIsNoSystemCall) {
  EXPECT_EQ(why_late(kInJava, {.state = 'S', .cpu_ns = 100},
                     {.state = 'S', .cpu_ns = 100, .wchan = "handle_userfault", .syscall = "-1"}),
            "waits in the kernel for a page of memory (handle_userfault)");
  EXPECT_EQ(why_late(kInVm, {.state = 'D', .cpu_ns = 5}, {.state = 'D', .cpu_ns = 5, .wchan = "0", .syscall = "74"}),
            "waits in the kernel in system call 74");
}

TEST(WaitsForLock, OnlyAsleepInAFutex) {
  const std::string futex = std::to_string(target::traits_of(target::kNativeIsa).futex);
  EXPECT_TRUE(waits_for_lock({.state = 'S', .syscall = futex}));
  EXPECT_FALSE(waits_for_lock({.state = 'R', .syscall = futex}));
  EXPECT_FALSE(waits_for_lock({.state = 'S', .syscall = "-1"}));
  EXPECT_FALSE(waits_for_lock({.state = 'S', .syscall = "0"}));
}

TEST(WhyLate, AStoppedThreadIsNotItsOwnFault) {
  EXPECT_EQ(why_late(kInJava, {.state = 'R', .cpu_ns = 1}, {.state = 'T', .cpu_ns = 2}),
            "is stopped (SIGSTOP, or a debugger)");
  EXPECT_EQ(
      why_late(
          kInJava, {.state = 'R', .cpu_ns = 1},
          {.state = 't', .cpu_ns = 2, .held = target::HeldThread{.tracer = 7, .tracer_name = "gdb", .stands = true}}),
      "is stopped by another tracer, process 7 (gdb)");
}

}  // namespace
}  // namespace jtrace::coreinspect
