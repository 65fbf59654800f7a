#include "base/size_text.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(SizeText, HasTheLargestUnitOfWhichThereAreTen) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1), "1 byte");
  EXPECT_EQ(size_text(9999), "9999 bytes");
  EXPECT_EQ(size_text(10'240), "10.0 KiB");
  EXPECT_EQ(size_text(64u << 20), "64.0 MiB");
  EXPECT_EQ(size_text(std::uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(size_text((std::uint64_t{3} << 30) + (1u << 20)), "3073.0 MiB");
  EXPECT_EQ(size_text(2u << 20), "2.0 MiB");
  EXPECT_EQ(size_text((std::uint64_t{25} << 30) + (1u << 29)), "25.5 GiB");
}

TEST(MibText, HasOneUnitForFiguresThatAreCompared) {
  EXPECT_EQ(mib_text(std::uint64_t{300} << 10), "0.3 MiB");
  EXPECT_EQ(mib_text(std::uint64_t{5} << 30), "5120.0 MiB");
  EXPECT_EQ(mib_text(1.5 * (1 << 20)), "1.5 MiB");
  EXPECT_EQ(whole_mib_text((64u << 20) + 4096), "64 MiB");
}

}  // namespace
}  // namespace jtrace
