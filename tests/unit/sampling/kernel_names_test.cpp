// Names of kernel functions out of lines as /proc/kallsyms has them.
#include "sampling/kernel_names.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

TEST(KernelNames, AreThoseOfTheFunctionBelow) {
  const KernelNames names(
      "ffffffff81000100 T second\nffffffff81000000 T first\nffffffff81000200 d data\n"
      "ffffffffc0000000 t in_module\t[some]\n");
  EXPECT_EQ(names.name_at(0xffffffff81000000), "first");
  EXPECT_EQ(names.name_at(0xffffffff810000ff), "first");
  EXPECT_EQ(names.name_at(0xffffffff81000250), "second") << "data have no code";
  EXPECT_EQ(names.name_at(0xffffffffc0000010), "in_module");
  EXPECT_EQ(names.name_at(0x1000), "[kernel]");
}

TEST(KernelNames, AreNotKnownWhereTheKernelHidesThem) {
  const KernelNames names("0000000000000000 T first\n0000000000000000 T second\n");
  EXPECT_FALSE(names.known());
  EXPECT_EQ(names.name_at(0xffffffff81000000), "[kernel]");
  EXPECT_FALSE(KernelNames("no symbols\n\nffff").known());
}

}  // namespace
}  // namespace jtrace::sampling
