#include "target/futex_call.h"

#include <gtest/gtest.h>

#include "target/interrupted_call.h"

namespace jtrace::target {
namespace {

TEST(FutexCallOfASyscall, HasWordOperationAndValue) {
  if (kNativeIsa != Isa::kX86_64) GTEST_SKIP() << "the number of the call is that of x86-64";
  const auto call = futex_of_syscall("202 0x7f01 0x80 0x2 0x0 0x0 0xffffffff 0x7ffe10 0x7f4a9c\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(*call, (FutexCall{0x7f01, 0x80, 2}));
  EXPECT_TRUE(call->is_plain_wait());
  EXPECT_FALSE((FutexCall{0x7f01, 0x189, 0}.is_plain_wait()));  // FUTEX_WAIT_BITSET: a condition
}

TEST(FutexCallOfASyscall, IsNoneOfOtherCallsAndTexts) {
  for (const char* text : {"running\n", "", "-1 0x7ffe10 0x7f4a9c\n", "7 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
                           "202 1 2 3 4 5 6 7 8\n", "202 0x1 0x80\n"})
    EXPECT_FALSE(futex_of_syscall(text)) << text;
}

TEST(FutexCallOfRegisters, IsThatOfTheMachine) {
  for (const Isa isa : {Isa::kX86_64, Isa::kAarch64}) {
    Registers registers{.words = {}, .isa = isa};
    EXPECT_FALSE(futex_of_registers(registers));
    const IsaTraits& traits = traits_of(isa);
    registers.words[traits.syscall] = traits.futex;
    registers.words[traits.arguments[0]] = 0x7f01;
    registers.words[traits.arguments[1]] = 0x80;
    registers.words[traits.arguments[2]] = 2;
    EXPECT_EQ(futex_of_registers(registers), (FutexCall{0x7f01, 0x80, 2}));
  }
}

TEST(InterruptedCall, IsToBeBegunAgain) {
  Registers registers;
  for (const std::int64_t result : {-512, -513, -514, -516, -4, 0, 1}) {
    registers.words[kCallResult] = static_cast<std::uint64_t>(result);
    EXPECT_EQ(is_interrupted_call(registers), result <= -512) << result;
  }
}

}  // namespace
}  // namespace jtrace::target
