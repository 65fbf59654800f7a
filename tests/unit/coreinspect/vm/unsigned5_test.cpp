// Compressed numbers, as JDK 8 to 20 and as later JDKs write them.
#include "coreinspect/vm/unsigned5.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace jtrace::coreinspect {
namespace {

TEST(Unsigned5, BothForms) {
  const std::byte plain[] = {std::byte{0}, std::byte{191}, std::byte{192}, std::byte{1}};
  Unsigned5Reader old_form(plain, false);
  EXPECT_EQ(old_form.next(), 0u);
  EXPECT_EQ(old_form.next(), 191u);
  EXPECT_EQ(old_form.next(), 192u + 64u);
  EXPECT_FALSE(old_form.failed());
  EXPECT_EQ(old_form.next(), 0u);
  EXPECT_TRUE(old_form.failed());
  const std::byte shifted[] = {std::byte{1}, std::byte{192}, std::byte{1}, std::byte{0}};
  Unsigned5Reader new_form(shifted, true);
  EXPECT_EQ(new_form.next(), 0u);
  EXPECT_EQ(new_form.next(), 191u);
  EXPECT_EQ(new_form.next(), 0u);
  EXPECT_TRUE(new_form.failed()) << "a zero byte ends the stream";
}

}  // namespace
}  // namespace jtrace::coreinspect
