#include "coreinspect/runtime/java_number.h"

#include <gtest/gtest.h>

#include <limits>

namespace jtrace::coreinspect {
namespace {

// What Double.toString and Float.toString of JDK 25 print.
TEST(JavaNumber, IsWrittenAsJavaDoes) {
  EXPECT_EQ(java_number(0.0), "0.0");
  EXPECT_EQ(java_number(-0.0), "-0.0");
  EXPECT_EQ(java_number(2.5), "2.5");
  EXPECT_EQ(java_number(-0.1), "-0.1");
  EXPECT_EQ(java_number(100.0), "100.0");
  EXPECT_EQ(java_number(1234567.0), "1234567.0");
  EXPECT_EQ(java_number(1e7), "1.0E7");
  EXPECT_EQ(java_number(0.001), "0.001");
  EXPECT_EQ(java_number(0.00123), "0.00123");
  EXPECT_EQ(java_number(0.0001), "1.0E-4");
  EXPECT_EQ(java_number(1.25e300), "1.25E300");
  EXPECT_EQ(java_number(3.5f), "3.5");
  EXPECT_EQ(java_number(0.1f), "0.1");
  EXPECT_EQ(java_number(std::numeric_limits<double>::denorm_min()), "4.9E-324");
  EXPECT_EQ(java_number(std::numeric_limits<float>::denorm_min()), "1.4E-45");
  EXPECT_EQ(java_number(2e23), "2.0E23");
  EXPECT_EQ(java_number(1e-10), "1.0E-10");
  EXPECT_EQ(java_number(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(java_number(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(java_number(std::numeric_limits<double>::max()), "1.7976931348623157E308");
}

// Only the low bytes count.
TEST(JavaNumber, OfAPrimitiveTypeIsItsToString) {
  constexpr std::uint64_t kOnes = ~0ull;
  EXPECT_EQ(primitive_text(0xff00, 'Z'), "false");
  EXPECT_EQ(primitive_text(0xff01, 'Z'), "true");
  for (const char type : {'B', 'S', 'I', 'J'}) EXPECT_EQ(primitive_text(kOnes, type), "-1");
  EXPECT_EQ(primitive_text(0x1'0000'0080, 'B'), "-128");
  EXPECT_EQ(primitive_text(0x3fc00000, 'F'), "1.5");
  EXPECT_EQ(primitive_text(0xc004'0000'0000'0000, 'D'), "-2.5");
  EXPECT_EQ(primitive_text(0xff0000e9, 'C'), "\u00e9");
}

}  // namespace
}  // namespace jtrace::coreinspect
