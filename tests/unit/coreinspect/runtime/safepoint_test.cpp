// What can be told of safepoints and VM operations without a JVM: states, vtables, functions that return a constant.
#include "coreinspect/runtime/safepoint.h"

#include <gtest/gtest.h>

#include <array>

namespace jtrace::coreinspect {
namespace {

TEST(SafepointStates, OnlyNativeAndBlockedThreadsLetItBeReached) {
  for (const int state : {2, 3, 5, 6, 7, 8, 9, 11}) EXPECT_TRUE(holds_up_safepoint(state)) << state;
  for (const int state : {-1, 0, 1, 4, 10, 12, 57005}) EXPECT_FALSE(holds_up_safepoint(state)) << state;
}

TEST(VtableSymbols, HaveTheClassOfAnOperation) {
  EXPECT_EQ(class_of_vtable_symbol("_ZTV17VM_GenCollectFull"), "VM_GenCollectFull");
  EXPECT_EQ(class_of_vtable_symbol("_ZTVN3jfr8VM_ThingE"), "jfr::VM_Thing");
  EXPECT_EQ(class_of_vtable_symbol("_ZN20SafepointSynchronize6_stateE"), "");
  EXPECT_EQ(class_of_vtable_symbol("malloc"), "");
  EXPECT_EQ(class_of_vtable_symbol(""), "");
}

template <std::size_t N>
std::optional<std::uint32_t> returned_by(const std::array<int, N>& code) {
  std::array<std::byte, N> bytes;
  for (std::size_t i = 0; i < N; ++i) bytes[i] = static_cast<std::byte>(code[i]);
  return constant_returned_by(bytes);
}

TEST(FunctionsOfConstants, AreReadAndNoOthers) {
  EXPECT_EQ(returned_by(std::array{0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 0x16, 0, 0, 0, 0xc3, 0x66}), 0x16u);
  EXPECT_EQ(returned_by(std::array{0xb8, 0x02, 0x01, 0, 0, 0xc3}), 0x102u);
  EXPECT_EQ(returned_by(std::array{0x31, 0xc0, 0xc3}), 0u);
  EXPECT_EQ(returned_by(std::array{0x55, 0x48, 0x89, 0xe5, 0xb8, 7, 0, 0, 0, 0x5d, 0xc3}), 7u);
  EXPECT_EQ(returned_by(std::array{0x55, 0x48, 0x89, 0xe5, 0xb8, 7, 0, 0, 0, 0xc3}), std::nullopt);
  EXPECT_EQ(returned_by(std::array{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xfa}), std::nullopt);
  EXPECT_EQ(returned_by(std::array{0xb8, 7, 0}), std::nullopt);
  EXPECT_EQ(returned_by(std::array<int, 0>{}), std::nullopt);
}

}  // namespace
}  // namespace jtrace::coreinspect
